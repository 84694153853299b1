#include <gmock/gmock.h>

#include <set>

#include "gradient_case.hpp"
#include "noise_param.hpp"

// However the population of a gradient is cut.

namespace vnjit::tests {
namespace {

enum class Sums { in_one_part, in_a_cluster, in_memory };

struct Size {
  std::int64_t units;
  std::int64_t pop;
};

class GradientSplit : public GradientOnGpu, public testing::WithParamInterface<NoiseSpec> {
 protected:
  const Gradient problem{.noise = GetParam()};

  PopulationSplit split_of(const Config& config, const Size& size) {
    return split_population(config, problem, size.units, size.pop, device->limits());
  }

  /// The first of some sizes whose population is so cut.
  std::optional<Size> size_for(const Config& config, int unit_warps, Sums sums) {
    for (const std::int64_t pop : {8, 40, 64, 128, 256, 512, 1024, 2048, 4096, 20'000}) {
      for (const std::int64_t units : {1, 2, 5, 20, 40, 70, 132, 200, 264, 300, 400, 600, 1100}) {
        const PopulationSplit split = split_of(config, {units, pop});
        const Sums found = split.parts == 1 ? Sums::in_one_part
                           : split.cluster  ? Sums::in_a_cluster
                                            : Sums::in_memory;
        if (split.unit_warps == unit_warps && found == sums) return Size{units, pop};
      }
    }
    return std::nullopt;
  }

  /// A case of as many units; its first and its last have a part of their segments only.
  GradientCase case_of(const Config& config, const Size& size) {
    const std::int64_t start = size.units == 1 ? 9 : config.block_in - 5;
    const std::int64_t columns = size.units * config.block_in - 7 - start;
    GradientCase made = GradientCase::of(
        problem, {{.offset = 40 * config.block_in + start, .columns = columns}}, size.pop);
    made.config = config;
    return made;
  }

  /// A size that leaves sums in memory.
  GradientCase case_in_memory() {
    const Config config = choose_config(problem, device->limits());
    const std::optional<Size> size = size_for(config, config.warps, Sums::in_memory);
    EXPECT_TRUE(size);
    return case_of(config, size.value_or(Size{1, 20'000}));
  }
};

INSTANTIATE_TEST_SUITE_P(Of, GradientSplit, testing::ValuesIn(some_noises()), noise_name);

TEST_P(GradientSplit, IsRightForEveryNumberOfWarpsAndWayToAddUp) {
  for (const Config& config : candidates(problem, device->limits())) {
    std::set<Sums> seen;
    std::set<int> shared;
    for (int unit_warps = 1; unit_warps <= config.warps; unit_warps *= 2) {
      for (const Sums sums : {Sums::in_one_part, Sums::in_a_cluster, Sums::in_memory}) {
        SCOPED_TRACE(testing::Message() << to_string(config) << ", " << unit_warps
                                        << " warps a unit, way " << static_cast<int>(sums));
        const std::optional<Size> size = size_for(config, unit_warps, sums);
        if (!size) continue;  // never worth it
        seen.insert(sums);
        shared.insert(unit_warps);
        const GradientCase subject = case_of(config, *size);
        const auto found = run_case(runtime, device, subject);
        expect_samples_right(subject, subject.blocks[0], found[0]);
        for (int repeat = 0; repeat < 4; ++repeat) {
          expect_same_bits(run_case(runtime, device, subject), found);
        }
      }
    }
    EXPECT_EQ(seen.size(), device->limits().has_clusters() ? 3u : 2u);
    EXPECT_EQ(*shared.begin(), 1);
    EXPECT_EQ(*shared.rbegin(), config.warps);
  }
}

TEST_P(GradientSplit, TakesItsWorkspaceWhereItIsGiven) {
  const GradientCase subject = case_in_memory();
  const auto expected = run_case(runtime, device, subject);
  LoadedCase loaded(runtime, device, subject);
  const std::size_t asked = loaded.workspace_bytes();
  ASSERT_GT(asked, 0u);
  constexpr std::size_t kGuard = 256;
  const auto memory = on_device(std::vector<std::byte>(asked + kGuard, std::byte{0xff}));
  for (int repeat = 0; repeat < 2; ++repeat) {
    loaded.run(nullptr, {memory.data(), asked});
    expect_same_bits(loaded.results(), expected);
  }
  const std::vector<std::byte> left = on_host(memory);
  EXPECT_THAT(std::vector<std::byte>(left.end() - kGuard, left.end()),
              testing::Each(std::byte{0xff}));
  EXPECT_THAT(refusal_of([&] {
                loaded.run(nullptr, {memory.data(), asked - 1});
              }),
              testing::HasSubstr("this run needs " + std::to_string(asked)));
}

TEST_P(GradientSplit, NeedsNoWorkspaceForOnePart) {
  const Config config = choose_config(problem, device->limits());
  const std::optional<Size> size = size_for(config, 1, Sums::in_one_part);
  ASSERT_TRUE(size);
  EXPECT_EQ(LoadedCase(runtime, device, case_of(config, *size)).workspace_bytes(), 0u);
}

TEST_P(GradientSplit, RunsInTwoStreamsAtOnce) {
  const GradientCase in_memory = case_in_memory();
  const GradientCase small = GradientCase::of(problem, {{.offset = 3, .columns = 2000}}, 500);
  const auto expected = run_case(runtime, device, in_memory);
  const auto expected_small = run_case(runtime, device, small);
  const StreamHandle streams[] = {device->create_stream(), device->create_stream()};
  LoadedCase first(runtime, device, in_memory);
  LoadedCase second(runtime, device, in_memory);
  LoadedCase third(runtime, device, small);
  for (int repeat = 0; repeat < 20; ++repeat) {
    first.run(streams[0]);
    second.run(streams[1]);
    third.run(streams[1]);
  }
  for (const StreamHandle stream : streams) {
    device->synchronize(stream);
    device->destroy_stream(stream);
  }
  expect_same_bits(first.results(), expected);
  expect_same_bits(second.results(), expected);
  expect_same_bits(third.results(), expected_small);
}

}  // namespace
}  // namespace vnjit::tests
