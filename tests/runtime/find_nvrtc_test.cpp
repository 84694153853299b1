#include "vnjit/runtime/find_nvrtc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "temp_dir.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

/// A file system of its own, in which nothing is installed at first.
class FindNvrtc : public testing::Test {
 protected:
  fs::path add(const fs::path& relative) {
    tests::write_file(folder / relative, "library");
    return folder / relative;
  }
  fs::path root() const { return folder / "root"; }
  fs::path program() const { return folder / "program [1]"; }
  fs::path find() const { return find_nvrtc(options, root(), program()); }
  std::string refusal() const {
    try {
      return "found " + find().string();
    } catch (const Unavailable& refusal) {
      return refusal.what();
    }
  }

  tests::TempDir folder;
  Options options;
};

TEST_F(FindNvrtc, PlacesAreTriedInTheDocumentedOrder) {
  options.library_dirs = {folder / "ld1", folder / "ld2"};
  options.toolkit_dirs = {folder / "cuda home", folder / "cuda path"};
  options.python_dirs = {folder / "venv", folder / "site*"};
  tests::write_file(root() / "etc/ld.so.conf",
                    "# comment\n/opt/first\ninclude conf.d/*.conf  # more\n"
                    "include /etc/own/*.conf\nhwcap 1 nosegneg\n  /opt/last  \n");
  tests::write_file(root() / "etc/conf.d/cuda.conf", "/opt/included\ninclude /etc/ld.so.conf\n");
  tests::write_file(root() / "etc/own/a.conf", "/opt/own");
#if defined(__aarch64__)
  const std::string multiarch = "aarch64-linux-gnu";
#else
  const std::string multiarch = "x86_64-linux-gnu";
#endif
  const std::vector<fs::path> in_order{
      add("ld1/libnvrtc.so.12"),
      add("ld2/libnvrtc.so.12"),
      add("program [1]/cuda/lib64/libnvrtc.so.12"),
      add("program [1]/cuda/lib/libnvrtc.so.12"),
      add("program [1]/cuda/nvidia/cu13/lib/libnvrtc.so.13"),
      add("cuda home/lib64/libnvrtc.so.12"),
      add("cuda home/lib/libnvrtc.so.12"),
      add("cuda path/lib64/libnvrtc.so.12"),
      add("root/usr/local/cuda/lib64/libnvrtc.so.12"),
      add("root/usr/local/cuda/lib/libnvrtc.so.12"),
      add("root/opt/first/libnvrtc.so.12"),
      add("root/opt/included/libnvrtc.so.12"),
      add("root/opt/own/libnvrtc.so.12"),
      add("root/opt/last/libnvrtc.so.12"),
      add("root/lib/" + multiarch + "/libnvrtc.so.12"),
      add("root/usr/lib/" + multiarch + "/libnvrtc.so.12"),
      add("root/usr/lib64/libnvrtc.so.12"),
      add("root/usr/lib/libnvrtc.so.12"),
      add("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
      add("site*/nvidia/cu13/lib/libnvrtc.so.13"),
      add("root/usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
      add("root/usr/local/lib/python3.12/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
      add("root/usr/local/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
  };
  for (const fs::path& expected : in_order) {
    EXPECT_EQ(find(), expected);
    fs::remove(expected);
  }
  EXPECT_THAT(refusal(), HasSubstr("NVRTC was not found"));
}

TEST_F(FindNvrtc, AFolderGivesItsHighestVersion) {
  options.library_dirs = {folder / "lib"};
  add("lib/libnvrtc.so");
  EXPECT_EQ(find(), folder / "lib/libnvrtc.so");
  add("lib/libnvrtc.so.9");
  EXPECT_EQ(find(), folder / "lib/libnvrtc.so.9");
  add("lib/libnvrtc.so.13");
  add("lib/libnvrtc.so.12.8.93");
  EXPECT_EQ(find(), folder / "lib/libnvrtc.so.13");
}

TEST_F(FindNvrtc, WheelsOfBothLayoutsInOnePlaceGiveTheHighestVersion) {
  options.python_dirs = {folder / "venv"};
  const fs::path site = folder / "venv/lib/python3.9/site-packages/nvidia";
  fs::create_directories(site);
  tests::write_file(folder / "elsewhere/real library", "library");
  for (const char* layout :
       {"cu11/lib/libnvrtc.so.11", "cuda_nvrtc/lib/libnvrtc.so.12", "cu13/lib/libnvrtc.so.13"}) {
    fs::create_directories((site / layout).parent_path());
    fs::create_symlink(folder / "elsewhere/real library", site / layout);
    EXPECT_EQ(find(), site / layout);
  }
}

TEST_F(FindNvrtc, OtherFilesDoNotCount) {
  options.library_dirs = {folder / "lib"};
  for (const char* name :
       {"libnvrtc.alt.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc.so.13.bak", "libnvrtc.so.",
        "libnvrtc.so.x", "libnvrtc.so13", "libnvrtc_static.a", "mylibnvrtc.so.12"}) {
    add(fs::path("lib") / name);
  }
  fs::create_directory(folder / "lib/libnvrtc.so.14");
  fs::create_symlink(folder / "nowhere", folder / "lib/libnvrtc.so.15");
  EXPECT_THAT(refusal(), HasSubstr("NVRTC was not found"));
}

TEST_F(FindNvrtc, ANamedFileOrFolderDecidesAlone) {
  options.library_dirs = {folder / "ld"};
  add("ld/libnvrtc.so.99");
  options.nvrtc = add("own/my nvrtc.so");
  EXPECT_EQ(find(), folder / "own/my nvrtc.so");
  options.nvrtc = folder / "own lib";
  add("own lib/libnvrtc.so.12");
  EXPECT_EQ(find(), folder / "own lib/libnvrtc.so.12");
}

TEST_F(FindNvrtc, ANamedPlaceThatHoldsNoneIsNamed) {
  options.library_dirs = {folder / "ld"};
  add("ld/libnvrtc.so.13");
  fs::create_directory(folder / "empty");
  for (const char* name : {"empty", "absent"}) {
    options.nvrtc = folder / name;
    EXPECT_EQ(refusal(),
              "no NVRTC at " + (folder / name).string() +
                  "; VNJIT_NVRTC (Options::nvrtc) takes a libnvrtc.so or the folder that "
                  "holds it, and unset it lets vnjit search");
  }
}

TEST_F(FindNvrtc, AnErrorListsEveryPlaceThatWasTried) {
  options.library_dirs = {folder / "ld"};
  options.toolkit_dirs = {folder / "toolkit"};
  options.python_dirs = {folder / "venv"};
  tests::write_file(root() / "etc/ld.so.conf", "/opt/libs\n/opt/libs\n");
  const std::string message = refusal();
  EXPECT_THAT(message, HasSubstr("install CUDA's toolkit or the Python wheel nvidia-cuda-nvrtc, or "
                                 "set VNJIT_NVRTC"));
  std::vector<std::string> lines;
  std::istringstream text(message);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  for (const char* place : {"ld", "program [1]/cuda/lib64", "program [1]/cuda/nvidia/*/lib",
                            "toolkit/lib64", "root/usr/local/cuda/lib64", "root/opt/libs",
                            "root/usr/lib64", "venv/lib/python3*/site-packages/nvidia/*/lib",
                            "root/usr/lib/python3/dist-packages/nvidia/*/lib",
                            "root/usr/local/lib/python3*/site-packages/nvidia/*/lib"}) {
    EXPECT_THAT(lines, Contains("  " + (folder / place).string()).Times(1));
  }
}

}  // namespace
}  // namespace vnjit
