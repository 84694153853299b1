#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

// docs/reliability.md names tests; each of them is there.

namespace vnjit::tests {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> found(const std::string& text, const std::regex& pattern) {
  std::set<std::string> names;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), pattern);
       match != std::sregex_iterator(); ++match) {
    names.insert((*match)[1].str() + '.' + (*match)[2].str());
  }
  return names;
}

TEST(Reliability, EveryTestThatIsNamedIsThere) {
  const fs::path root = VNJIT_SOURCE_DIR;
  std::set<std::string> there;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    there.merge(found(read(entry.path()), std::regex(R"(TEST(?:_F|_P)?\((\w+),\s*(\w+)\))")));
  }
  const std::set<std::string> named =
      found(read(root / "docs/reliability.md"), std::regex(R"(`([A-Z]\w+)\.([A-Z]\w+)`)"));
  EXPECT_GT(named.size(), 50u);
  for (const std::string& name : named) EXPECT_TRUE(there.contains(name)) << name;
}

}  // namespace
}  // namespace vnjit::tests
