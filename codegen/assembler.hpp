#pragma once

#include <map>
#include <string>
#include <string_view>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/templates.hpp"

namespace vnjit {

/// A template is wrong; names file and line.
class TemplateError : public Error {
 public:
  using Error::Error;
};

/// Optional parts of a template by name: whether each is kept.
using TemplateFlags = std::map<std::string, bool, std::less<>>;

/// One self-contained text from a template and what it includes, each file once, before the first
/// text that needs it.
///
/// Lines between `//@if flag` (or `//@if !flag`) and `//@endif` are kept when the flag holds;
/// parts nest. Throws TemplateError for a missing file, an unknown or misspelled directive, an
/// unbalanced one, a flag that is not in `flags`, and a flag in `flags` that no file mentions.
std::string assemble(const TemplateFiles& files, std::string_view root, const TemplateFlags& flags);

}  // namespace vnjit
