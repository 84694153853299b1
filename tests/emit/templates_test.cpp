#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "covering_set.hpp"
#include "temp_dir.hpp"
#include "vnjit/codegen/assembler.hpp"
#include "vnjit/runtime/compiler.hpp"
#include "vnjit/runtime/find_nvrtc.hpp"

// The templates on disk, as an editor sees them: every file compiles by itself with the samples in
// specialization.cuh and the fragments, and every kernel with any of its optional parts left out.

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::Contains;

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

/// A compiler's log without remarks on speed and on debug information: the samples have no speed,
/// and debug information is not used.
std::string without_remarks(const std::string& log) {
  std::string rest;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size() - 1) + 1;
    const std::string line = log.substr(begin, end - begin);
    const bool remark =
        line.starts_with("ptxas info ") ||
        line.starts_with("warning: Function too large, generated debug information");
    if (!remark) rest += line;
    begin = end;
  }
  return rest;
}

/// Compiles and says what the compiler finds wrong, be it a warning.
std::string complaints(const std::string& text) {
  KernelSource source;
  source.entry = "kernel";
  source.text = text;
  source.arch = "sm_90a";
  // The samples hold more than any one kernel uses. Unoptimized, it takes half the time.
  source.options = {"--gpu-architecture=sm_90a", "--std=c++17", "--diag-suppress=177",
                    "--device-debug", "--include-path=" + kFolder.string()};
  try {
    return without_remarks(nvrtc().compile(source, source.options, Nvrtc::Target::ptx).log);
  } catch (const Error& refusal) {
    return refusal.what();
  }
}

/// A choice of fragments in place of a sample's.
struct Fragments {
  const char* name;
  const char* file;
  const char* text;
};

struct Kernel {
  const char* file;
  const char* entry;
  const char* flag;            ///< one of its flags
  const Fragments* fragments;  ///< null: the sample's
};

constexpr Fragments kMmaSync = {"mma_sync", "tensor/fragments.cuh",
                                "#include \"tensor/noise_bytes_shifted.cuh\"\n"
                                "#include \"mma_sync/pipeline.cuh\"\n"
                                "#include \"mma_sync/product.cuh\"\n"};
constexpr Fragments kSumsFloat = {"sums_float", "gradient/fragments.cuh",
                                  "#include \"gradient/sums_float.cuh\"\n"};
constexpr Fragments kSumsInteger = {"sums_integer", "gradient/fragments.cuh",
                                    "#include \"gradient/sums_integer.cuh\"\n"};

constexpr const char* kGradient =
    "__global__ void kernel(const __grid_constant__ vnjit::GradientList params) {\n"
    "  vnjit::gradient(params);\n}\n";
constexpr const char* kReduceMetric =
    "__global__ void kernel(const vnjit::ReduceMetricParams params) {\n"
    "  vnjit::reduce_metric(params);\n}\n";

constexpr Kernel kKernels[] = {
    {"simt/perturbed_linear.cuh",
     "__global__ void kernel(const vnjit::PerturbedLinearParams params) {\n"
     "  vnjit::perturbed_linear(params);\n}\n",
     "antithetic", nullptr},
    {"gradient/gradient.cuh", kGradient, "adam", nullptr},
    {"gradient/gradient.cuh", kGradient, "sgd", &kSumsFloat},
    {"gradient/gradient.cuh", kGradient, "clusters", &kSumsInteger},
    {"simt/reduce_metric.cuh", kReduceMetric, "antithetic", nullptr},
    {"tensor/perturbed_linear.cuh",
     "__global__ void kernel(const __grid_constant__ vnjit::PerturbedLinearParams params,\n"
     "                       const __grid_constant__ vnjit::TensorMap x_map,\n"
     "                       const __grid_constant__ vnjit::TensorMap weight_map) {\n"
     "  vnjit::perturbed_linear(params, &x_map, &weight_map);\n}\n",
     "weight_product", nullptr},
    {"tensor/perturbed_linear.cuh",
     "__global__ void kernel(const vnjit::PerturbedLinearParams params) {\n"
     "  vnjit::perturbed_linear(params);\n}\n",
     "single_stage", &kMmaSync},
    {"tensor/base_product.cuh",
     "__global__ void kernel(const vnjit::PerturbedLinearParams params) {\n"
     "  vnjit::base_product(params);\n}\n",
     "dependent_launch", nullptr},
};

TEST(Templates, AreTheOnesBuiltIntoTheLibrary) { EXPECT_EQ(embedded_templates(), files_on_disk()); }

TEST(Templates, EachCompilesByItself) {
  for (const auto& [path, text] : files_on_disk()) {
    EXPECT_EQ(complaints("#include \"" + path + "\"\n"), "") << path;
  }
}

TEST(Templates, KernelsCompileWithEveryOptionalPartInPlace) {
  for (const Kernel& kernel : kKernels) {
    if (kernel.fragments) continue;  // not what an editor sees
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

/// All combinations of so many flags, or a set that holds every combination of two where there are
/// many.
std::vector<tests::Levels> combinations(std::size_t flags) {
  if (flags > 8) return tests::covering_set(std::vector<std::size_t>(flags, 2));
  std::vector<tests::Levels> all;
  for (unsigned values = 0; values < 1u << flags; ++values) {
    tests::Levels levels;
    for (std::size_t flag = 0; flag < flags; ++flag) levels.push_back((values >> flag) & 1);
    all.push_back(levels);
  }
  return all;
}

/// What a kernel's parts need of each other.
void complete(TemplateFlags& flags, const Kernel& kernel) {
  const std::string_view file = kernel.file;
  if (file.starts_with("gradient/")) flags["fixed_point"] = kernel.fragments != &kSumsFloat;
  if (!file.starts_with("tensor/")) return;
  const bool forward = file == "tensor/perturbed_linear.cuh";
  if (forward) flags["tensor_maps"] = kernel.fragments == nullptr;
  if (forward) flags["noise"] = true;
  if (!forward || flags["weight_product"] || flags["fused"]) flags["weight_tile"] = true;
}

TEST(Templates, SumsCompileOfEveryLanesNoise) {
  TemplateFiles files = files_on_disk();
  int lanes = 0;
  for (const auto& [path, text] : files_on_disk()) {
    if (!path.starts_with("simt/lane_") || path == "simt/lane_noise.cuh") continue;
    ++lanes;
    files["simt/lane_noise.cuh"] = "#include \"" + path + "\"\n";
    files[kSumsFloat.file] = kSumsFloat.text;
    const TemplateFlags flags = {{"antithetic", true},
                                 {"fixed_point", false},
                                 {"clusters", true},
                                 {"sgd", true},
                                 {"adam", false}};
    EXPECT_EQ(complaints(assemble(files, "gradient/gradient.cuh", flags) + kGradient), "") << path;
    EXPECT_EQ(complaints(assemble(files, "simt/reduce_metric.cuh", {{"antithetic", true}}) +
                         kReduceMetric),
              "")
        << path;
  }
  EXPECT_EQ(lanes, 5);
}

class TemplateKernel : public testing::TestWithParam<Kernel> {};

TEST_P(TemplateKernel, CompilesForEveryCombinationOfItsFlags) {
  const Kernel& kernel = GetParam();
  TemplateFiles files = files_on_disk();
  if (kernel.fragments) files[kernel.fragments->file] = kernel.fragments->text;
  const std::set<std::string> names = flags_below(files, kernel.file);
  ASSERT_THAT(names, Contains(kernel.flag));
  std::set<TemplateFlags> tried;
  for (const tests::Levels& levels : combinations(names.size())) {
    TemplateFlags flags;
    for (const std::string& name : names) flags[name] = levels[flags.size()] == 1;
    complete(flags, kernel);
    if (!tried.insert(flags).second) continue;
    std::string shown;
    for (const auto& [name, value] : flags) shown += (value ? " " : " !") + name;
    ASSERT_EQ(complaints(assemble(files, kernel.file, flags) + kernel.entry), "") << shown;
  }
}

INSTANTIATE_TEST_SUITE_P(, TemplateKernel, testing::ValuesIn(kKernels), [](const auto& kernel) {
  const fs::path file = kernel.param.file;
  const Fragments* fragments = kernel.param.fragments;
  return file.parent_path().string() + (fragments ? "_" + std::string(fragments->name) : "") + "_" +
         file.stem().string();
});

}  // namespace
}  // namespace vnjit
