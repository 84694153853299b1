#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "specializations.hpp"

namespace vnjit {
namespace {

class EmittedNoiseRate : public testing::TestWithParam<std::size_t> {
 protected:
  static Options in_memory() {
    Options options = Options::from_environment();
    options.cache_dir.clear();
    return options;
  }

  void SetUp() override {
    const int arch = limits.compute_major * 10 + limits.compute_minor;
    if (!std::ranges::binary_search(compiler.nvrtc()->supported_archs(), arch)) {
      GTEST_SKIP() << "this NVRTC does not know " << limits.arch();
    }
  }

  Compiler compiler{in_memory()};
  DeviceLimits limits = DeviceLimits::preset(preset_names()[GetParam()]);
};

TEST_P(EmittedNoiseRate, CompilesWithoutWarningsAndFitsTheRegistersWithoutSpills) {
  for (const char* noise : tests::kNoises) {
    const KernelSource source = emit_noise_rate(parse_noise_spec(noise), limits);
    SCOPED_TRACE(source.entry);
    Binary binary;
    ASSERT_NO_THROW(binary = compiler.compile(source).binary);
    EXPECT_EQ(tests::complaints(binary.log), "");
    EXPECT_EQ(binary.usage.static_shared_bytes, 0);
    EXPECT_EQ(binary.usage.spill_store_bytes, 0);
    EXPECT_EQ(binary.usage.spill_load_bytes, 0);
    EXPECT_EQ(binary.usage.stack_bytes, 0);
    EXPECT_GT(binary.usage.registers, 0);
    EXPECT_LE(binary.usage.registers * source.threads * kNoiseRateBlocksPerSm,
              limits.registers_per_sm);
  }
}

INSTANTIATE_TEST_SUITE_P(, EmittedNoiseRate, testing::Range(std::size_t{0}, preset_names().size()),
                         [](const auto& preset) {
                           return std::string(preset_names()[preset.param]);
                         });

}  // namespace
}  // namespace vnjit
