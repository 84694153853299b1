#include "gradient_case.hpp"
#include "noise_param.hpp"

// Whatever the blocks of a gradient look like, and however many there are.

namespace vnjit::tests {
namespace {

class GradientLists : public GradientOnGpu, public testing::WithParamInterface<NoiseSpec> {
 protected:
  GradientCase case_of(std::vector<BlockShape> blocks, std::int64_t pop = 20) {
    return GradientCase::of({.noise = GetParam()}, std::move(blocks), pop);
  }
};

INSTANTIATE_TEST_SUITE_P(Of, GradientLists, testing::ValuesIn(every_noise()), noise_name);

/// Blocks of a few small shapes, one after another.
std::vector<BlockShape> small_blocks(int count) {
  std::vector<BlockShape> blocks;
  std::int64_t offset = 0;
  for (int n = 0; n < count; ++n) {
    const BlockShape shape{
        .offset = offset, .rows = n % 2 == 0 ? 3 : 1, .columns = n * 37 % 90 + 1};
    blocks.push_back(shape);
    offset += shape.elements();
  }
  return blocks;
}

// A launch takes 71 blocks.
TEST_P(GradientLists, MayHaveAnyLength) {
  for (const int count : {1, 70, 71, 72, 142, 200}) {
    SCOPED_TRACE(count);
    expect_right(case_of(small_blocks(count)));
  }
}

TEST_P(GradientLists, MayHoldBiasesAnywhere) {
  std::vector<BlockShape> blocks;
  for (const std::int64_t base : {std::int64_t{0}, std::int64_t{1} << 32, std::int64_t{1} << 40}) {
    for (const std::int64_t columns : {1, 10, 256, 511, 512, 513}) {
      // The border between words of a counter is within the block, and at both its ends.
      for (const std::int64_t before : {columns, columns / 2, std::int64_t{0}}) {
        if (base >= before) blocks.push_back({.offset = base - before, .columns = columns});
      }
    }
  }
  expect_right(case_of(blocks, 7));
}

TEST_P(GradientLists, MayStartAtAnyElementOfASegment) {
  std::vector<BlockShape> blocks;
  for (std::int64_t residue = 0; residue < 1024; ++residue) {
    blocks.push_back({.offset = 1024 * 3 * residue + residue, .columns = residue * 37 % 61 + 1});
  }
  expect_right(case_of(blocks, 7));
}

TEST_P(GradientLists, MayHaveRowsWithGaps) {
  expect_right(case_of(
      {{.offset = 1, .columns = 1},
       {.offset = 1023, .rows = 2, .columns = 512},
       {.offset = (std::int64_t{1} << 32) - 700, .rows = 3, .columns = 513, .noise_padding = 3},
       {.offset = (std::int64_t{1} << 36) - 100,
        .rows = 4,
        .columns = 511,
        .noise_padding = 513,
        .padding = 1},
       {.offset = (std::int64_t{1} << 41) - 5, .rows = 9, .columns = 10, .noise_padding = 600},
       {.offset = 4096, .rows = 3, .columns = 100, .noise_padding = 924, .padding = 28},
       {.offset = 4000, .rows = 40, .columns = 7, .padding = 1},
       {.offset = 64, .rows = 70, .columns = 1, .noise_padding = 6},
       {.offset = 8192, .rows = 5, .columns = 1024, .noise_padding = 1024, .padding = 2000}}));
}

TEST_P(GradientLists, MayHoldEmptyBlocks) {
  expect_right(case_of({{.offset = 0, .rows = 0, .columns = 10},
                        {.offset = 3, .rows = 4, .columns = 20},
                        {.offset = 0, .rows = 10, .columns = 0},
                        {.offset = 99, .columns = 5}}));
  LoadedCase nothing(runtime, device, case_of({{.rows = 0, .columns = 10}}));
  EXPECT_EQ(nothing.workspace_bytes(), 0u);
  nothing.run();
}

// The layers of a network at once: each parameter has the gradient of its noise element.
TEST_P(GradientLists, MayBeAWholeNetwork) {
  std::vector<BlockShape> blocks;
  std::int64_t offset = 0;
  for (int layer = 0; layer < 35; ++layer) {
    const std::int64_t in = layer % 3 == 0 ? 512 : 300;
    const std::int64_t out = layer % 4 == 0 ? 257 : 128;
    blocks.push_back({.offset = offset, .rows = out, .columns = in});
    blocks.push_back({.offset = offset + out * in, .columns = out});
    offset += out * in + out;
  }
  const GradientCase subject = case_of(blocks, 64);
  const auto found = run_case(runtime, device, subject);
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    SCOPED_TRACE(n);
    // Contiguous, so that a block of rows is one of a single row.
    const BlockShape flat{.offset = blocks[n].offset, .columns = blocks[n].elements()};
    expect_samples_right(subject, flat, found[n]);
    for (const float value : found[n].output) ASSERT_TRUE(std::isfinite(value));
  }
}

}  // namespace
}  // namespace vnjit::tests
