#include "vnjit/runtime/gpu/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/sum_split.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/gpu/linear_access.hpp"
#include "vnjit/runtime/gpu/linear_params.hpp"

namespace vnjit {
namespace {

Config simt_config(const Problem& problem, const Config& config, const DeviceLimits& limits) {
  return std::holds_alternative<PerturbedLinear>(problem) && is_tensor(config.family)
             ? choose_config(problem, limits, Family::simt)
             : config;
}

/// A line that says why tensor cores are not used, where the problem's precision would let them.
std::string without_tensor(const Problem& problem, const DeviceLimits& limits) {
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  if (!linear || operand_precision(*linear) == Precision::f32) return {};
  const std::string why = why_not_tensor(*linear, limits);
  return why.empty() ? why : fmt::format("tensor:   not used: {}\n", why);
}

}  // namespace

GpuPlan::GpuPlan(const Problem& problem, const Config& config, std::shared_ptr<GpuDevice> device,
                 Compiler& compiler, std::string origin)
    : GpuPlan(problem, config, std::move(device), compiler, std::move(origin), Kernels::all) {}

std::shared_ptr<const GpuPlan> GpuPlan::general(const PerturbedLinear& problem,
                                                std::shared_ptr<GpuDevice> device,
                                                Compiler& compiler) {
  const Config config = choose_config(problem, device->limits(), Family::simt);
  return std::shared_ptr<const GpuPlan>(
      new GpuPlan(problem, config, std::move(device), compiler, {}, Kernels::general));
}

GpuPlan::GpuPlan(const Problem& problem, const Config& config, std::shared_ptr<GpuDevice> device,
                 Compiler& compiler, std::string origin, Kernels kernels)
    : problem_(problem),
      config_(config),
      origin_(std::move(origin)),
      simt_config_(simt_config(problem, config, device->limits())),
      device_(std::move(device)) {
  validate(config, problem, device_->limits());
  device_->require_context();
  if (const auto* gradient = std::get_if<Gradient>(&problem)) {
    gradient_ = std::make_unique<const GpuGradient>(*gradient, config, device_, compiler);
  } else if (const auto* reduce = std::get_if<ReduceMetric>(&problem)) {
    reduce_metric_ = std::make_unique<const GpuReduceMetric>(*reduce, config, device_, compiler);
  } else {
    load_linear(std::get<PerturbedLinear>(problem), compiler, kernels);
  }
}

void GpuPlan::load_linear(const PerturbedLinear& problem, Compiler& compiler, Kernels kernels) {
  any_ = load(Access{}, compiler);
  if (kernels == Kernels::general) return;
  if (is_tensor(config_.family)) {
    tensor_ = std::make_unique<const TensorLinear>(problem, config_, device_, compiler);
  } else if (const Access contiguous = used_by_simt(contiguous_access(problem));
             contiguous != Access{}) {
    fast_access_ = contiguous;
    fast_ = load(contiguous, compiler);
  }
}

std::unique_ptr<const LoadedKernel> GpuPlan::load(const Access& access, Compiler& compiler) const {
  return std::make_unique<const LoadedKernel>(
      emit(problem_, simt_config_, device_->limits(), access, compiler.templates()), device_,
      compiler);
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
  const PerturbedLinearArguments arguments = checked(problem, given, workspace);
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

void GpuPlan::run(const GradientArguments& given, StreamHandle stream, Workspace workspace) const {
  const auto& problem = operation_for<Gradient>(problem_, "gradient");
  gradient_->run(checked(problem, given, workspace), stream, workspace);
}

void GpuPlan::run(const ReduceMetricArguments& given, StreamHandle stream,
                  Workspace workspace) const {
  const auto& problem = operation_for<ReduceMetric>(problem_, "reduce-metric");
  const ReduceMetricArguments arguments = checked(problem, given, workspace);
  if (arguments.pop > 0) reduce_metric_->run(arguments, stream, workspace);
}

std::string GpuPlan::explain() const {
  std::string text =
      fmt::format("device:   GPU {} {}\nproblem:  {}\nconfig:   {}\nstages:   {}; {}\n",
                  device_->ordinal(), device_->name(), command_flags(problem_), to_string(config_),
                  config_.stages, pipeline_depth(config_, problem_, device_->limits()).explain());
  if (!origin_.empty()) text += fmt::format("record:   {}\n", origin_);
  if (const std::string split = explain_split(config_, problem_, device_->limits());
      !split.empty()) {
    text += fmt::format("split:    {}\n", split);
  }
  if (gradient_) return text + gradient_->explain();
  if (reduce_metric_) return text + reduce_metric_->explain();
  if (!tensor_) text += without_tensor(problem_, device_->limits());
  if (tensor_) text += tensor_->explain();
  if (fast_) text += fast_->describe("main", to_string(fast_access_));
  text += any_->describe(fast_ || tensor_ ? "fallback" : "main", to_string(Access{}));
  if (tensor_) text += fmt::format("fallback: taken for {}\n", tensor_->refused());
  return text;
}

}  // namespace vnjit
