#include "vnjit/runtime/gpu/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "params/gradient.cuh"
#include "params/reduce_metric.cuh"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/gpu/linear_access.hpp"
#include "vnjit/runtime/gpu/linear_params.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kNoiseBlock = 64;  // elements

const long long* seeds_of(const std::int64_t* seeds) {
  return reinterpret_cast<const long long*>(seeds);
}

Config simt_config(const Problem& problem, const Config& config, const DeviceLimits& limits) {
  return is_tensor(config.family) ? choose_config(problem, limits, Family::simt) : config;
}

/// A line that says why tensor cores are not used, where the problem's precision would let them.
std::string without_tensor(const Problem& problem, const DeviceLimits& limits) {
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  if (!linear || operand_precision(*linear) == Precision::f32) return {};
  const std::string why = why_not_tensor(*linear, limits);
  return why.empty() ? why : fmt::format("tensor:   not used: {}\n", why);
}

// A block whose rows follow each other without gaps is one long row: fewer half-empty segments.
GradientBlock joined(GradientBlock block) {
  if (block.noise_row_stride == block.columns && block.output_row_stride == block.columns) {
    block.columns *= block.rows;
    block.rows = 1;
  }
  return block;
}

}  // namespace

GpuPlan::GpuPlan(const Problem& problem, const Config& config, std::shared_ptr<GpuDevice> device,
                 Compiler& compiler)
    : problem_(problem),
      config_(config),
      simt_config_(simt_config(problem, config, device->limits())),
      device_(std::move(device)) {
  validate(config, problem, device_->limits());
  device_->require_context();
  any_ = load(Access{}, compiler);
  if (is_tensor(config.family)) {
    tensor_ = std::make_unique<const TensorLinear>(std::get<PerturbedLinear>(problem), config,
                                                   device_, compiler);
  } else if (const Access contiguous = used_by_simt(contiguous_access(problem));
             contiguous != Access{}) {
    fast_access_ = contiguous;
    fast_ = load(contiguous, compiler);
  }
}

std::unique_ptr<const LoadedKernel> GpuPlan::load(const Access& access, Compiler& compiler) const {
  return std::make_unique<const LoadedKernel>(
      emit(problem_, simt_config_, device_->limits(), access), device_, compiler);
}

template <typename Params>
void GpuPlan::launch(const LoadedKernel& kernel, Params params, std::int64_t blocks,
                     StreamHandle stream) const {
  const std::int64_t most = device_->limits().max_grid_x;
  void* arguments[] = {&params};
  for (; params.first_block < blocks; params.first_block += most) {
    kernel.launch(std::min<std::int64_t>(most, blocks - params.first_block), arguments, stream);
  }
}

void GpuPlan::run(const PerturbedLinearArguments& given, StreamHandle stream,
                  Workspace workspace) const {
  const auto& problem = operation_for<PerturbedLinear>(problem_, "perturbed-linear");
  const PerturbedLinearArguments arguments = checked(problem, given);
  if (arguments.pop == 0 || arguments.batch == 0 || arguments.out == 0) return;
  if (tensor_ && tensor_->takes(arguments)) {
    tensor_->run(arguments, stream, workspace);
    return;
  }
  const std::int64_t blocks = arguments.pop * tiles_of(simt_config_, arguments);
  const Access access = access_of(problem, arguments, size_bytes(problem.input), blocks);
  const bool fast = fast_ && fast_access_.allows(access);
  launch(fast ? *fast_ : *any_, params_of(problem, arguments), blocks, stream);
}

void GpuPlan::run(const GradientArguments& given, StreamHandle stream, Workspace) const {
  const auto& problem = operation_for<Gradient>(problem_, "gradient");
  const GradientArguments arguments = checked(problem, given);
  const double divisor = static_cast<double>(arguments.pop_size) *
                         (problem.normalize == Normalize::unbiased ? problem.noise.variance() : 1);
  for (std::size_t index = 0; index < arguments.blocks.size(); ++index) {
    const GradientBlock block = joined(checked(arguments.blocks[index], index));
    if (block.rows == 0 || block.columns == 0) continue;
    // A row that starts inside a block of 64 elements reaches up to 63 elements further.
    const std::int64_t segments = ceil_div(block.columns + kNoiseBlock - 1, config_.block_in);
    const GradientParams params = {
        .fitness = arguments.fitness,
        .seeds = seeds_of(arguments.seeds),
        .output = block.output,
        .sigma_pointer = arguments.sigma.pointer,
        .offset = static_cast<unsigned long long>(block.offset),
        .noise_row_stride = static_cast<unsigned long long>(block.noise_row_stride),
        .seed_count = problem.noise.antithetic ? arguments.pop / 2 : arguments.pop,
        .columns = block.columns,
        .output_row_stride = block.output_row_stride,
        .row_segments = segments,
        .first_block = 0,
        .sigma = arguments.sigma.value,
        .scale = static_cast<float>(1.0 / divisor)};
    launch(*any_, params, block.rows * segments, stream);
  }
}

void GpuPlan::run(const ReduceMetricArguments& given, StreamHandle stream, Workspace) const {
  const auto& problem = operation_for<ReduceMetric>(problem_, "reduce-metric");
  const ReduceMetricArguments arguments = checked(problem, given);
  if (arguments.pop == 0) return;
  const ReduceMetricParams params = {.center = arguments.center,
                                     .seeds = seeds_of(arguments.seeds),
                                     .metric = arguments.metric,
                                     .sigma_pointer = arguments.sigma.pointer,
                                     .offset = static_cast<unsigned long long>(arguments.offset),
                                     .params = arguments.params,
                                     .first_block = 0,
                                     .sigma = arguments.sigma.value};
  launch(*any_, params, arguments.pop, stream);
}

std::string GpuPlan::explain() const {
  std::string text =
      fmt::format("device:   GPU {} {}\nproblem:  {}\nconfig:   {}\nstages:   {}; {}\n",
                  device_->ordinal(), device_->name(), command_flags(problem_), to_string(config_),
                  config_.stages, pipeline_depth(config_, problem_, device_->limits()).explain());
  if (!tensor_) text += without_tensor(problem_, device_->limits());
  if (tensor_) text += tensor_->explain();
  if (fast_) text += fast_->describe("main", to_string(fast_access_));
  text += any_->describe(fast_ || tensor_ ? "fallback" : "main", to_string(Access{}));
  if (tensor_) text += fmt::format("fallback: taken for {}\n", tensor_->refused());
  return text;
}

}  // namespace vnjit
