#pragma once

#include <functional>
#include <map>
#include <string>

namespace vnjit {

/// Text of the device-code templates by their path below templates/.
using TemplateFiles = std::map<std::string, std::string, std::less<>>;

/// The templates built into this library.
const TemplateFiles& embedded_templates();

}  // namespace vnjit
