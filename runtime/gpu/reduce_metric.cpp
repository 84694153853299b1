#include "vnjit/runtime/gpu/reduce_metric.hpp"

#include <algorithm>
#include <utility>

#include "params/reduce_metric.cuh"
#include "vnjit/runtime/gpu/linear_access.hpp"
#include "vnjit/runtime/gpu/partial_sums.hpp"
#include "vnjit/runtime/gpu/stream_memory.hpp"

namespace vnjit {
namespace {

PartialSums partial_sums(const ParameterSplit& split, std::int64_t individuals) {
  if (split.chunks == 1) return {};
  return {split.groups, split.chunks * individuals, sizeof(float)};
}

/// As many of them as one launch takes.
ReduceMetricArguments first_individuals(ReduceMetricArguments arguments) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  arguments.pop = std::min(arguments.pop, kMost);
  return arguments;
}

}  // namespace

GpuReduceMetric::GpuReduceMetric(const ReduceMetric& problem, const Config& config,
                                 std::shared_ptr<GpuDevice> device, Compiler& compiler)
    : problem_(problem),
      config_(config),
      device_(std::move(device)),
      kernel_(emit(problem, config, device_->limits(), contiguous_access(problem),
                   compiler.templates()),
              device_, compiler) {}

std::int64_t GpuReduceMetric::segments(const ReduceMetricArguments& arguments) const {
  if (arguments.params == 0) return 0;
  return ceil_div(arguments.offset % config_.block_in + arguments.params, config_.block_in);
}

ParameterSplit GpuReduceMetric::split(const ReduceMetricArguments& arguments) const {
  const std::int64_t seeds = problem_.noise.antithetic ? arguments.pop / 2 : arguments.pop;
  return split_parameters(config_, problem_, seeds, segments(arguments), device_->limits());
}

std::size_t GpuReduceMetric::workspace_bytes(const ReduceMetricArguments& sizes) const {
  if (sizes.pop == 0) return 0;
  const ReduceMetricArguments largest = first_individuals(sizes);
  return partial_sums(split(largest), largest.pop).bytes;
}

void GpuReduceMetric::run(const ReduceMetricArguments& arguments, StreamHandle stream,
                          Workspace workspace) const {
  const StreamMemory memory(*device_, workspace, workspace_bytes(arguments), stream);
  ReduceMetricArguments rest = arguments;
  while (rest.pop > 0) {
    const ReduceMetricArguments first = first_individuals(rest);
    launch(first, stream, memory.data());
    rest.pop -= first.pop;
    rest.metric += first.pop;
    rest.seeds += problem_.noise.antithetic ? first.pop / 2 : first.pop;
  }
}

void GpuReduceMetric::launch(const ReduceMetricArguments& arguments, StreamHandle stream,
                             std::byte* workspace) const {
  const ParameterSplit cut = split(arguments);
  const PartialSums partials = partial_sums(cut, arguments.pop);
  partials.clear(*device_, workspace, stream);
  ReduceMetricParams params = {
      .center = arguments.center,
      .seeds = reinterpret_cast<const long long*>(arguments.seeds),
      .metric = arguments.metric,
      .sigma_pointer = arguments.sigma.pointer,
      .partials = reinterpret_cast<float*>(workspace + partials.counters),
      .counters = reinterpret_cast<unsigned*>(workspace),
      .offset = static_cast<unsigned long long>(arguments.offset),
      .params = arguments.params,
      .seed_count = problem_.noise.antithetic ? arguments.pop / 2 : arguments.pop,
      .segments = segments(arguments),
      .chunks = static_cast<unsigned>(cut.chunks),
      .group_seeds = static_cast<unsigned>(cut.group_seeds),
      .sigma = arguments.sigma.value};
  void* kernel_arguments[] = {&params};
  kernel_.launch(cut.groups * cut.chunks, kernel_arguments, stream);
}

std::string GpuReduceMetric::explain() const { return kernel_.describe("main"); }

}  // namespace vnjit
