#include "vnjit/runtime/template_dir.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxTemplateBytes = 1 << 20;

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw InvalidArgument(fmt::format("templates cannot be read from {}: {}", path.string(), why));
}

std::string read_template(const fs::path& path) {
  std::error_code failed;
  const std::uintmax_t bytes = fs::file_size(path, failed);
  if (failed) refuse(path, failed.message());
  if (bytes > kMaxTemplateBytes) {
    refuse(path,
           fmt::format("it has {} bytes; a template has at most {}", bytes, kMaxTemplateBytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) refuse(path, "reading failed");
  if (text.size() != bytes) refuse(path, "permission denied, or it changed while it was read");
  return text;
}

}  // namespace

TemplateFiles read_templates(const fs::path& folder) {
  TemplateFiles templates = embedded_templates();
  bool known = false;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed);
  if (failed) refuse(folder, failed.message());
  for (; entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    std::error_code unknown;
    if (entry->path().extension() != ".cuh" || !entry->is_regular_file(unknown)) continue;
    const std::string path = entry->path().lexically_relative(folder).generic_string();
    known = known || templates.contains(path);
    templates[path] = read_template(entry->path());
  }
  if (failed) refuse(folder, failed.message());
  if (!known) {
    refuse(folder, fmt::format("it holds none of vnjit's templates, such as {}",
                               embedded_templates().begin()->first));
  }
  return templates;
}

}  // namespace vnjit
