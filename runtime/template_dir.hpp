#pragma once

#include <filesystem>

#include "vnjit/codegen/templates.hpp"

namespace vnjit {

/// The templates built in, with those files in place that lie below `folder` under the same path,
/// and what else ends in .cuh there beside them. Throws InvalidArgument when the folder cannot be
/// read or holds none of the built-in templates' paths, naming it and what it should hold.
TemplateFiles read_templates(const std::filesystem::path& folder);

}  // namespace vnjit
