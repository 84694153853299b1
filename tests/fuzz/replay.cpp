#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz_target.hpp"

// Gives every file of a corpus to the target, without libFuzzer: the last one named is the one that
// failed. An empty corpus is a failure.

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fuzz_TARGET CORPUS\n", stderr);
    return 2;
  }
  int files = 0;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], failed)) {
    std::fprintf(stderr, "%s\n", entry.path().c_str());
    std::ifstream file(entry.path(), std::ios::binary);
    if (!file) {
      std::fputs("cannot be read\n", stderr);
      return 1;
    }
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                  std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  if (files == 0 || failed) {
    std::fprintf(stderr, "%s: no inputs to replay\n", argv[1]);
    return 1;
  }
  std::printf("%d inputs of %s\n", files, argv[1]);
  return 0;
}
