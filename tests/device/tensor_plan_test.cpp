#include <gmock/gmock.h>

#include "tensor_case.hpp"

// What a plan of a tensor family does around its kernel: workspace, fallback, order of its runs.

namespace vnjit::tests {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

class TensorPlanOnGpu : public TensorOnGpu {
 protected:
  const PerturbedLinear shared{
      .input = DataType::f16, .pop = 5, .batch = 37, .in = 192, .out = 100};

  LinearCase case_of(const PerturbedLinear& problem) const {
    return {.problem = problem, .sigma = 0.3f, .config = chosen(problem)};
  }

  Buffer<std::byte> poisoned_bytes(std::size_t bytes) const {
    return on_device(std::vector<std::byte>(bytes, kPoison));
  }

  void expect_result(const LinearCase& c, const LinearInputs& inputs, const Prepared& there,
                     int number) {
    EXPECT_LE(relative_error(result(c, there), reference(c, inputs)), bound_of(c.problem))
        << "run " << number;
  }
};

TEST_P(TensorPlanOnGpu, StaysInsideItsWorkspaceWhateverLiesThere) {
  PerturbedLinear converted = shared;
  converted.input = DataType::f32;
  converted.precision = Precision::bf16;
  PerturbedLinear individual = converted;
  individual.layout = InputLayout::individual;
  for (const PerturbedLinear& problem : {shared, converted, individual}) {
    const LinearCase c = case_of(problem);
    const LinearInputs inputs = draw(problem, 17);
    const Prepared there = prepare(c, inputs);
    const auto plan = plan_of(c);
    const std::size_t bytes = plan->workspace_bytes(there.arguments);
    ASSERT_GT(bytes, 0u) << c.describe();
    constexpr std::size_t kAround = 1024;
    const auto memory = poisoned_bytes(bytes + 2 * kAround);
    plan->run(there.arguments, nullptr, {memory.data() + kAround, bytes});
    EXPECT_LE(relative_error(result(c, there), reference(c, inputs)), bound_of(problem))
        << c.describe();
    const std::vector<std::byte> all = on_host(memory);
    const auto used_end = all.end() - static_cast<std::ptrdiff_t>(kAround);
    EXPECT_THAT(std::vector(all.begin(), all.begin() + kAround), Each(kPoison));
    EXPECT_THAT(std::vector(used_end, all.end()), Each(kPoison));
    EXPECT_NE(std::vector(all.begin() + kAround, used_end), std::vector(bytes, kPoison));
    EXPECT_EQ(bits_of(run(c, inputs)), bits_of(result(c, there))) << "workspace of its own";
  }
}

TEST_P(TensorPlanOnGpu, NeedsRoomForTheBaseProductAlone) {
  const LinearCase c = case_of(shared);
  const Prepared there = prepare(c, draw(shared, 17));
  PerturbedLinearArguments sizes = there.arguments;
  EXPECT_EQ(plan_of(c)->workspace_bytes(sizes), 14848u);  // 37 rows of 100 floats
  sizes.batch *= 2;
  EXPECT_EQ(plan_of(c)->workspace_bytes(sizes), 29696u);
  sizes.batch = 0;
  EXPECT_EQ(plan_of(c)->workspace_bytes(sizes), 0u);
}

TEST_P(TensorPlanOnGpu, NeedsNoWorkspaceWhereNothingIsMadeBefore) {
  const Prepared there = prepare(case_of(shared), draw(shared, 17));
  PerturbedLinear individual = shared;
  individual.layout = InputLayout::individual;
  EXPECT_EQ(plan_of(case_of(individual))->workspace_bytes(there.arguments), 0u);
  const auto fused = runtime.plan(shared, device, fused_tile(shared));
  EXPECT_EQ(fused->workspace_bytes(there.arguments), 0u);
  const auto simt =
      runtime.plan(shared, device, choose_config(shared, device->limits(), Family::simt));
  EXPECT_EQ(simt->workspace_bytes(there.arguments), 0u);
}

TEST_P(TensorPlanOnGpu, RefusesAWorkspaceThatIsTooSmallOrMisaligned) {
  const LinearCase c = case_of(shared);
  const Prepared there = prepare(c, draw(shared, 17));
  const auto plan = plan_of(c);
  const auto memory = poisoned_bytes(1 << 16);
  EXPECT_THAT(refusal_of([&] {
                plan->run(there.arguments, nullptr, {memory.data(), 14847});
              }),
              HasSubstr("workspace is 14847 bytes; this run needs 14848"));
  EXPECT_THAT(refusal_of([&] {
                plan->run(there.arguments, nullptr, {memory.data() + 128, 1 << 15});
              }),
              HasSubstr("must be a multiple of 256"));
  EXPECT_THAT(on_host(there.y), Each(kPoison));
}

// Sigma is no power of two: sums in another order round differently, so that the bits tell which
// kernel ran.
TEST_P(TensorPlanOnGpu, BuffersOfAnyKindFallBackToSimt) {
  for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
    PerturbedLinear problem = shared;
    problem.layout = layout;
    const LinearCase aligned = case_of(problem);
    const LinearInputs inputs = draw(problem, 17);
    LinearCase simt = aligned;
    simt.config = choose_config(problem, device->limits(), Family::simt);
    const std::vector<float> on_tensor_cores = run(aligned, inputs);
    const std::vector<float> on_cores = run(simt, inputs);
    EXPECT_LE(relative_error(on_tensor_cores, reference(aligned, inputs)), 1e-5);
    EXPECT_NE(bits_of(on_tensor_cores), bits_of(on_cores));

    std::vector<LinearCase> cases(3, aligned);
    cases[0].misalignment = 1;
    cases[1].x_padding = 4;
    cases[2].weight_padding = 1;
    for (const LinearCase& c : cases) {
      EXPECT_EQ(bits_of(run(c, inputs)), bits_of(on_cores)) << c.describe();
    }
    cases.assign(3, aligned);
    cases[0].offset = 16;
    cases[1].offset = 77;
    cases[2].noise_padding = 7;
    for (LinearCase c : cases) {
      const std::vector<float> y = run(c, inputs);
      EXPECT_LE(relative_error(y, reference(c, inputs)), 2e-6) << c.describe();
      c.config = simt.config;
      EXPECT_EQ(bits_of(y), bits_of(run(c, inputs))) << c.describe();
    }
  }
}

TEST_P(TensorPlanOnGpu, AlignedStridesAndOffsetsStayOnTensorCores) {
  for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
    PerturbedLinear problem = shared;
    problem.layout = layout;
    const LinearInputs inputs = draw(problem, 17);
    LinearCase c = case_of(problem);
    const auto contiguous = bits_of(run(c, inputs));
    c.x_padding = 8;
    c.weight_padding = 16;
    c.y_padding = 3;
    c.y_misalignment = 1;
    EXPECT_EQ(bits_of(run(c, inputs)), contiguous) << c.describe();
    c.offset = std::int64_t{64} << 20;
    const std::vector<float> moved = run(c, inputs);
    c.config = choose_config(problem, device->limits(), Family::simt);
    EXPECT_NE(bits_of(moved), bits_of(run(c, inputs))) << c.describe();
  }
}

// The base product of a run must neither reach the runs before, which may still read theirs in the
// same workspace, nor the ones after.
TEST_P(TensorPlanOnGpu, RunsInARowKeepTheirBaseProducts) {
  const LinearCase c = case_of(shared);
  const auto plan = plan_of(c);
  std::vector<LinearInputs> inputs;
  std::vector<Prepared> there;
  for (unsigned n = 0; n < 8; ++n) {
    inputs.push_back(draw(shared, 100 + 10 * n));
    there.push_back(prepare(c, inputs.back()));
  }
  const auto memory = poisoned_bytes(plan->workspace_bytes(there[0].arguments));
  for (const Prepared& one : there) {
    plan->run(one.arguments, nullptr, {memory.data(), memory.size()});
  }
  for (std::size_t n = 0; n < there.size(); ++n) {
    expect_result(c, inputs[n], there[n], static_cast<int>(n));
  }
}

TEST_P(TensorPlanOnGpu, StreamsWithWorkspacesOfTheirOwnDoNotMeet) {
  const LinearCase c = case_of(shared);
  const auto plan = plan_of(c);
  const LinearInputs inputs[2] = {draw(shared, 31), draw(shared, 41)};
  const Prepared there[2] = {prepare(c, inputs[0]), prepare(c, inputs[1])};
  const std::size_t bytes = plan->workspace_bytes(there[0].arguments);
  const Buffer<std::byte> memory[2] = {poisoned_bytes(bytes), poisoned_bytes(bytes)};
  const StreamHandle streams[2] = {device->create_stream(), device->create_stream()};
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (int n = 0; n < 2; ++n) {
      // Every other run allocates in the order of its stream.
      const Workspace given = repeat % 2 == 0 ? Workspace{memory[n].data(), bytes} : Workspace{};
      plan->run(there[n].arguments, streams[n], given);
    }
  }
  for (int n = 0; n < 2; ++n) {
    device->synchronize(streams[n]);
    device->destroy_stream(streams[n]);
    expect_result(c, inputs[n], there[n], n);
  }
}

TEST_P(TensorPlanOnGpu, EmptySizesLaunchNothing) {
  const LinearCase c = case_of(shared);
  const Prepared there = prepare(c, draw(shared, 17));
  for (std::int64_t PerturbedLinearArguments::*size :
       {&PerturbedLinearArguments::pop, &PerturbedLinearArguments::batch,
        &PerturbedLinearArguments::out}) {
    PerturbedLinearArguments empty = there.arguments;
    empty.*size = 0;
    plan_of(c)->run(empty);
  }
  EXPECT_THAT(on_host(there.y), Each(kPoison));
}

TEST_P(TensorPlanOnGpu, ExplainsItsKernelsInTheOrderTheyRun) {
  PerturbedLinear problem = shared;
  problem.input = DataType::f32;
  problem.precision = Precision::f16;
  const std::string text = plan_of(case_of(problem))->explain();
  EXPECT_THAT(text, AllOf(HasSubstr("config:   " + std::string(to_string(GetParam())) + "_"),
                          Not(HasSubstr("tensor:   not used"))));
  std::size_t place = 0;
  for (const char* role :
       {"kernel:   convert", "kernel:   base product", "kernel:   main", "kernel:   fallback"}) {
    place = text.find(role, place);
    EXPECT_NE(place, std::string::npos) << role << " in\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, TensorPlanOnGpu, every_tensor_family(), family_name);

class ChosenOnGpu : public LinearOnGpu {
 protected:
  std::string family_of(const PerturbedLinear& problem) {
    const std::string text = runtime.plan(problem, device)->explain();
    const std::string start = "config:   ";
    const std::size_t first = text.find(start) + start.size();
    return text.substr(first, text.find("_o", first) - first);
  }
};

TEST_F(ChosenOnGpu, TensorCoresTakeWhatMayBeRounded) {
  const DeviceLimits& limits = device->limits();
  const std::string expected = limits.has_wgmma()        ? "wgmma"
                               : limits.has_async_copy() ? "mma_sync"
                                                         : "simt";
  EXPECT_EQ(family_of({.input = DataType::f16}), expected);
  EXPECT_EQ(family_of({.input = DataType::bf16}), expected);
  EXPECT_EQ(family_of({.precision = Precision::tf32}), expected);
  EXPECT_EQ(family_of({}), "simt");
  EXPECT_EQ(family_of({.input = DataType::f16, .precision = Precision::f32}), "simt");
}

TEST_F(ChosenOnGpu, RowsThatNoTensorCoreCanReadRunInSimtAndExplainWhy) {
  const PerturbedLinear problem{
      .input = DataType::f16, .pop = 5, .batch = 37, .in = 33, .out = 100};
  const auto plan = runtime.plan(problem, device);
  EXPECT_EQ(family_of(problem), "simt");
  EXPECT_THAT(plan->explain(), AllOf(HasSubstr("tensor:   not used: "), HasSubstr("in is 33")));
  expect_right({.problem = problem, .offset = 11}, 2e-6);
}

}  // namespace
}  // namespace vnjit::tests
