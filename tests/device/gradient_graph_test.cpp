#include "captured_graph.hpp"
#include "gradient_case.hpp"
#include "noise_param.hpp"

namespace vnjit::tests {
namespace {

/// A run with workspace, captured before any other of its plan: what a graph reads when it runs may
/// change from run to run.
class GradientInAGraph : public GradientOnGpu, public testing::WithParamInterface<NoiseSpec> {
 protected:
  void expect_replays_right(GradientCase subject, bool needs_workspace) {
    subject.sigma_on_device = true;
    LoadedCase loaded(runtime, device, subject);
    const std::size_t bytes = loaded.workspace_bytes();
    EXPECT_EQ(bytes > 0, needs_workspace);
    const auto memory = on_device(std::vector<std::byte>(bytes, std::byte{0xff}));
    const StreamHandle stream = device->create_stream();
    {
      const CapturedGraph graph(stream, [&] { loaded.run(stream, {memory.data(), bytes}); });
      for (const BlockResult& block : loaded.results()) {
        for (const float value : block.output) ASSERT_TRUE(std::isnan(value)) << "it has run";
      }
      for (const unsigned generation : {1u, 2u, 3u}) {
        SCOPED_TRACE(generation);
        subject.fitness = normal_values(subject.pop(), generation);
        subject.sigma = 0.1f * static_cast<float>(generation);
        loaded.refill(subject.fitness, subject.sigma);
        graph.replay(stream);
        expect_right(subject, loaded.results());
      }
    }
    device->destroy_stream(stream);
  }
};

INSTANTIATE_TEST_SUITE_P(Of, GradientInAGraph, testing::ValuesIn(some_noises()), noise_name);

TEST_P(GradientInAGraph, SumsWithinAThreadBlock) {
  expect_replays_right(GradientCase::of({.noise = GetParam()}, {{.offset = 5, .columns = 100}}, 10),
                       false);
}

TEST_P(GradientInAGraph, SumsInACluster) {
  if (!device->limits().has_clusters()) GTEST_SKIP() << "a GPU without clusters";
  const GradientCase subject =
      GradientCase::of({.noise = GetParam()}, {{.offset = 5, .columns = 100}}, 600);
  const Config config = choose_config(subject.problem, device->limits());
  ASSERT_TRUE(
      split_population(config, subject.problem, 1, subject.pop(), device->limits()).cluster);
  expect_replays_right(subject, false);
}

TEST_P(GradientInAGraph, SumsInMemory) {
  expect_replays_right(
      GradientCase::of({.noise = GetParam()}, {{.offset = 5, .columns = 100}}, 20'000), true);
}

TEST_P(GradientInAGraph, TakesMoreBlocksThanALaunch) {
  std::vector<BlockShape> blocks;
  for (int n = 0; n < 100; ++n) blocks.push_back({.offset = 600 * n, .columns = 1 + 5 * n});
  expect_replays_right(GradientCase::of({.noise = GetParam()}, blocks, 12), false);
}

}  // namespace
}  // namespace vnjit::tests
