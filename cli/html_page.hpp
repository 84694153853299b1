#pragma once

#include <string>
#include <string_view>

namespace vnjit::cli {

/// One self-contained page: it loads nothing, is light or dark as the reader's system is, and fits
/// a phone. `json` is what it shows, `script` the file of cli/web that shows it in <main>.
std::string html_page(std::string_view title, std::string_view json, std::string_view script);

/// A file of cli/web, by name.
std::string_view web_file(std::string_view name);

}  // namespace vnjit::cli
