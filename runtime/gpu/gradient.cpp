#include "vnjit/runtime/gpu/gradient.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "params/gradient.cuh"
#include "vnjit/codegen/sum_config.hpp"
#include "vnjit/codegen/sum_split.hpp"
#include "vnjit/runtime/gpu/gradient_lists.hpp"
#include "vnjit/runtime/gpu/partial_sums.hpp"
#include "vnjit/runtime/gpu/stream_memory.hpp"
#include "vnjit/runtime/gradient_update.hpp"

namespace vnjit {
namespace {

template <typename Block>
constexpr std::size_t kCapacity = GradientListParams<Block>::kBlocks;

PartialSums partial_sums(const Config& config, const Gradient& problem,
                         const PopulationSplit& split, std::int64_t units) {
  if (split.parts == 1 || split.cluster) return {};
  return {split.groups(config, units), split.parts * units * config.block_in, total_bytes(problem)};
}

template <typename Block>
Block block_params(const ListedBlock& listed) {
  const GradientBlock& block = listed.block;
  Block params = {};
  params.offset = static_cast<unsigned long long>(block.offset);
  params.noise_row_stride = static_cast<unsigned long long>(block.noise_row_stride);
  params.columns = block.columns;
  params.run_elements = listed.runs.elements;
  params.output = block.output;
  params.output_row_stride = block.output_row_stride;
  params.first_unit = static_cast<unsigned>(listed.first_unit);
  params.run_units = static_cast<unsigned>(listed.runs.units);
  if constexpr (std::is_base_of_v<SgdBlockParams, Block>) {
    params.weight = block.weight;
    params.weight_row_stride = block.weight_row_stride;
  }
  if constexpr (std::is_base_of_v<AdamBlockParams, Block>) {
    params.first_moment = block.first_moment;
    params.second_moment = block.second_moment;
  }
  return params;
}

void set_run(GradientParams& params, const Gradient& problem, const GradientArguments& arguments,
             std::int64_t seeds) {
  params.fitness = arguments.fitness;
  params.seeds = reinterpret_cast<const long long*>(arguments.seeds);
  params.sigma_pointer = arguments.sigma.pointer;
  params.sigma = arguments.sigma.value;
  params.seed_count = seeds;
  params.divisor = static_cast<double>(arguments.pop_size) *
                   (problem.normalize == Normalize::unbiased ? problem.noise.variance() : 1.0);
  params.learning_rate = arguments.update.learning_rate;
  if (problem.update != Update::adam) return;
  const AdamStep step = adam_step_of(arguments.update);
  params.learning_rate = step.learning_rate;
  params.beta1 = step.beta1;
  params.beta2 = step.beta2;
  params.root_correction = step.root_correction;
  params.epsilon = step.epsilon;
}

}  // namespace

GpuGradient::GpuGradient(const Gradient& problem, const Config& config,
                         std::shared_ptr<GpuDevice> device, Compiler& compiler)
    : problem_(problem),
      config_(config),
      device_(std::move(device)),
      kernel_(emit(problem, config, device_->limits(), contiguous_access(problem),
                   compiler.templates()),
              device_, compiler) {}

std::size_t GpuGradient::capacity() const {
  switch (problem_.update) {
    case Update::none:
      break;
    case Update::sgd:
      return kCapacity<SgdBlockParams>;
    case Update::adam:
      return kCapacity<AdamBlockParams>;
  }
  return kCapacity<GradientBlockParams>;
}

std::int64_t GpuGradient::seeds(const GradientArguments& arguments) const {
  return problem_.noise.seed_count(arguments.pop);
}

std::size_t GpuGradient::workspace_bytes(const GradientArguments& sizes) const {
  std::size_t bytes = 0;
  for_each_list(sizes.blocks, capacity(), config_.block_in,
                [&](std::span<const ListedBlock>, std::int64_t units) {
                  const PopulationSplit split =
                      split_population(config_, problem_, units, seeds(sizes), device_->limits());
                  bytes = std::max(bytes, partial_sums(config_, problem_, split, units).bytes);
                });
  return bytes;
}

void GpuGradient::run(const GradientArguments& arguments, StreamHandle stream,
                      Workspace workspace) const {
  const StreamMemory memory(*device_, workspace, workspace_bytes(arguments), stream);
  switch (problem_.update) {
    case Update::none:
      return run_lists<GradientBlockParams>(arguments, stream, memory.data());
    case Update::sgd:
      return run_lists<SgdBlockParams>(arguments, stream, memory.data());
    case Update::adam:
      return run_lists<AdamBlockParams>(arguments, stream, memory.data());
  }
}

template <typename Block>
void GpuGradient::run_lists(const GradientArguments& arguments, StreamHandle stream,
                            std::byte* workspace) const {
  GradientListParams<Block> params;
  static_cast<GradientParams&>(params) = {};
  set_run(params, problem_, arguments, seeds(arguments));
  for_each_list(arguments.blocks, kCapacity<Block>, config_.block_in,
                [&](std::span<const ListedBlock> list, std::int64_t units) {
                  std::ranges::transform(list, params.blocks, block_params<Block>);
                  params.block_count = static_cast<unsigned>(list.size());
                  const PopulationSplit split = split_population(
                      config_, problem_, units, params.seed_count, device_->limits());
                  const PartialSums partials = partial_sums(config_, problem_, split, units);
                  partials.clear(*device_, workspace, stream);
                  params.counters = reinterpret_cast<unsigned*>(workspace);
                  params.partials = partials.bytes > 0 ? workspace + partials.counters : nullptr;
                  params.units = static_cast<unsigned>(units);
                  params.parts = static_cast<unsigned>(split.parts);
                  params.unit_warps = static_cast<unsigned>(split.unit_warps);
                  void* kernel_arguments[] = {&params};
                  kernel_.launch(split.groups(config_, units) * split.parts, kernel_arguments,
                                 stream, {.cluster = split.cluster ? split.parts : 1});
                });
}

std::string GpuGradient::explain() const { return kernel_.describe("main"); }

}  // namespace vnjit
