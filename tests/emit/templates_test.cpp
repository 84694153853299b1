#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "temp_dir.hpp"
#include "vnjit/codegen/assembler.hpp"
#include "vnjit/runtime/compiler.hpp"
#include "vnjit/runtime/find_nvrtc.hpp"

// The templates on disk, as an editor sees them: every file compiles by itself with the samples in
// specialization.cuh and fragments.cuh, and every kernel with any of its optional parts left out.

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const fs::path kFolder = fs::path(VNJIT_SOURCE_DIR) / "templates";

TemplateFiles files_on_disk() {
  TemplateFiles files;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(kFolder).generic_string()] =
        tests::read_file(entry.path());
  }
  return files;
}

const Nvrtc& nvrtc() {
  static const Nvrtc opened(find_nvrtc(Options::from_environment()));
  return opened;
}

/// Compiles and says what the compiler finds wrong, be it a warning.
std::string complaints(const std::string& text) {
  KernelSource source;
  source.entry = "kernel";
  source.text = text;
  source.arch = "sm_90";
  // The samples hold more than any one kernel uses. Unoptimized, it takes half the time.
  source.options = {"--gpu-architecture=sm_90", "--std=c++17", "--diag-suppress=177",
                    "--device-debug", "--include-path=" + kFolder.string()};
  try {
    return nvrtc().compile(source, source.options, Nvrtc::Target::ptx).log;
  } catch (const Error& refusal) {
    return refusal.what();
  }
}

struct Kernel {
  const char* file;
  const char* entry;
};

constexpr Kernel kKernels[] = {
    {"simt/perturbed_linear.cuh",
     "__global__ void kernel(const vnjit::PerturbedLinearParams params) {\n"
     "  vnjit::perturbed_linear(params);\n}\n"},
    {"simt/gradient.cuh",
     "__global__ void kernel(const vnjit::GradientParams params) { vnjit::gradient(params); }\n"},
    {"simt/reduce_metric.cuh",
     "__global__ void kernel(const vnjit::ReduceMetricParams params) {\n"
     "  vnjit::reduce_metric(params);\n}\n"},
};

TEST(Templates, AreTheOnesBuiltIntoTheLibrary) { EXPECT_EQ(embedded_templates(), files_on_disk()); }

TEST(Templates, EachCompilesByItself) {
  for (const auto& [path, text] : files_on_disk()) {
    EXPECT_EQ(complaints("#include \"" + path + "\"\n"), "") << path;
  }
}

TEST(Templates, KernelsCompileWithEveryOptionalPartInPlace) {
  for (const Kernel& kernel : kKernels) {
    EXPECT_EQ(complaints("#include \"" + std::string(kernel.file) + "\"\n" + kernel.entry), "")
        << kernel.file;
  }
}

/// The flags that the lines of the templates below `root` ask for.
std::set<std::string> flags_below(const TemplateFiles& files, const std::string& root) {
  TemplateFlags flags;
  for (;;) {
    try {
      assemble(files, root, flags);
      break;
    } catch (const TemplateError& refusal) {
      const std::string message = refusal.what();
      const std::size_t at = message.find("unknown flag '");
      if (at == std::string::npos) throw;
      const std::size_t begin = message.find('\'', at) + 1;
      flags[message.substr(begin, message.find('\'', begin) - begin)] = true;
    }
  }
  std::set<std::string> names;
  for (const auto& [name, value] : flags) names.insert(name);
  return names;
}

class TemplateKernel : public testing::TestWithParam<Kernel> {};

TEST_P(TemplateKernel, CompilesForEveryCombinationOfItsFlags) {
  const TemplateFiles files = files_on_disk();
  const std::set<std::string> names = flags_below(files, GetParam().file);
  ASSERT_THAT(names, Contains("antithetic"));
  for (unsigned values = 0; values < 1u << names.size(); ++values) {
    TemplateFlags flags;
    std::string shown;
    for (const std::string& name : names) {
      const bool value = ((values >> flags.size()) & 1) != 0;
      flags[name] = value;
      shown += (value ? " " : " !") + name;
    }
    ASSERT_EQ(complaints(assemble(files, GetParam().file, flags) + GetParam().entry), "") << shown;
  }
}

INSTANTIATE_TEST_SUITE_P(, TemplateKernel, testing::ValuesIn(kKernels), [](const auto& kernel) {
  return fs::path(kernel.param.file).stem().string();
});

}  // namespace
}  // namespace vnjit
