#include "vnjit/codegen/assembler.hpp"

#include "fuzz_target.hpp"

// Templates: any text assembles to one without directives and includes, or is a TemplateError.

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vnjit;
  // Parts of the input, split at zero bytes, are files that may include each other.
  TemplateFiles files;
  std::string_view rest = fuzz::text_of(data, size);
  for (char name = 'a'; name <= 'e' && !rest.empty(); ++name) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    files[std::string(1, name)] = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const TemplateFlags& flags :
       {TemplateFlags{}, TemplateFlags{{"x", true}}, TemplateFlags{{"x", false}, {"y", true}}}) {
    try {
      const std::string text = assemble(files, "a", flags);
      fuzz::require(text.find("//@") == std::string::npos);
      fuzz::require(!text.starts_with("#include") && text.find("\n#include") == std::string::npos);
    } catch (const TemplateError& error) {
      fuzz::require(*error.what() != '\0');
    }
  }
  return 0;
}
