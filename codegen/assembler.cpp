#include "vnjit/codegen/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace vnjit {
namespace {

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// `// @if bias` and `x = 1; //@endif`: as comments they would go unnoticed.
bool is_nearly_directive(std::string_view text) {
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    const std::size_t before = text.substr(0, at).find_last_not_of("/ \t");
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (text.substr(begin, at - begin).find("//") != std::string_view::npos) return true;
  }
  return false;
}

class Assembler {
 public:
  Assembler(const TemplateFiles& files, const TemplateFlags& flags)
      : files_(files), flags_(flags) {}

  std::string run(std::string_view root) {
    if (!files_.contains(root)) throw TemplateError(fmt::format("no template '{}'", root));
    include(root, root, 0);
    for (const auto& [flag, value] : flags_) {
      if (!used_.contains(flag)) {
        throw TemplateError(
            fmt::format("{}: flag '{}' is given but no line asks for it", root, flag));
      }
    }
    return std::move(text_);
  }

 private:
  struct Line {
    std::string_view file;
    int number;
    std::string_view text;  // whole
  };

  struct Part {  // between //@if and //@endif
    int line;
    bool kept;  // its own flag and those around it
  };

  static TemplateError error(const Line& line, const std::string& message) {
    return TemplateError(fmt::format("{}:{}: {}", line.file, line.number, message));
  }

  void include(std::string_view path, std::string_view from, int from_line) {
    const auto file = files_.find(path);
    if (file == files_.end()) {
      throw TemplateError(fmt::format("{}:{}: no template '{}'", from, from_line, path));
    }
    if (!included_.insert(file->first).second) return;
    std::string_view rest = file->second;
    std::vector<Part> parts;
    for (int number = 1; !rest.empty(); ++number) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      process({file->first, number, rest.substr(0, end)}, parts);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (!parts.empty()) {
      throw error({file->first, parts.back().line, {}}, "//@if without //@endif");
    }
  }

  void process(const Line& line, std::vector<Part>& parts) {
    const std::string_view text = trimmed(line.text);
    if (text.starts_with("//@")) return directive(line, text.substr(3), parts);
    if (is_nearly_directive(text)) {
      throw error(line, "a directive stands alone in its line and starts with //@");
    }
    if (!parts.empty() && !parts.back().kept) return;
    if (text == "#pragma once") return;
    if (text.starts_with("#include")) return include(quoted(line, text), line.file, line.number);
    write(line.text);
  }

  void directive(const Line& line, std::string_view text, std::vector<Part>& parts) {
    if (text == "endif") {
      if (parts.empty()) throw error(line, "//@endif without //@if");
      parts.pop_back();
      return;
    }
    if (!text.starts_with("if ")) {
      throw error(line, fmt::format("unknown directive '//@{}'; there are //@if FLAG, //@if !FLAG "
                                    "and //@endif",
                                    text));
    }
    std::string_view flag = trimmed(text.substr(3));
    const bool negated = flag.starts_with('!');
    if (negated) flag.remove_prefix(1);
    const auto found = flags_.find(flag);
    if (found == flags_.end()) throw error(line, fmt::format("unknown flag '{}'", flag));
    used_.insert(found->first);
    const bool around = parts.empty() || parts.back().kept;
    parts.push_back({line.number, around && found->second != negated});
  }

  static std::string_view quoted(const Line& line, std::string_view text) {
    const std::size_t begin = text.find('"');
    const std::size_t end = text.rfind('"');
    if (begin == std::string_view::npos || begin == end) {
      throw error(line, "a template includes templates only, in quotes");
    }
    return text.substr(begin + 1, end - begin - 1);
  }

  // Runs of blank lines, which left-out lines leave behind, become one.
  void write(std::string_view line) {
    const bool blank = trimmed(line).empty();
    if (blank && (text_.empty() || text_.ends_with("\n\n"))) return;
    text_.append(line).push_back('\n');
  }

  const TemplateFiles& files_;
  const TemplateFlags& flags_;
  std::set<std::string, std::less<>> included_;
  std::set<std::string, std::less<>> used_;
  std::string text_;
};

}  // namespace

std::string assemble(const TemplateFiles& files, std::string_view root,
                     const TemplateFlags& flags) {
  return Assembler(files, flags).run(root);
}

}  // namespace vnjit
