#include "vnjit/runtime/gpu/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "params/gradient.cuh"
#include "params/perturbed_linear.cuh"
#include "params/reduce_metric.cuh"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kNoiseBlock = 64;  // elements

std::int64_t ceil_div(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

const long long* seeds_of(const std::int64_t* seeds) {
  return reinterpret_cast<const long long*>(seeds);
}

bool is_on_16_bytes(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

// One past the last element a matrix of `count` slices of `rows` rows reaches, in double: what
// overflows 64 bits is certainly wide.
double extent(std::int64_t count, std::int64_t slice_stride, std::int64_t rows,
              std::int64_t row_stride, std::int64_t columns) {
  return static_cast<double>(count - 1) * static_cast<double>(slice_stride) +
         static_cast<double>(rows - 1) * static_cast<double>(row_stride) +
         static_cast<double>(columns);
}

std::int64_t tiles_of(const Config& config, const PerturbedLinearArguments& arguments) {
  return ceil_div(arguments.out, config.block_out) * ceil_div(arguments.batch, config.block_batch);
}

Access access_of(const PerturbedLinear& problem, const Config& config,
                 const PerturbedLinearArguments& arguments) {
  const std::int64_t per_16_bytes = 16 / size_bytes(problem.input);
  const bool individual = problem.layout == InputLayout::individual;
  const auto whole = [&](std::int64_t elements) { return elements % per_16_bytes == 0; };
  Access access;
  access.vector_rows = is_on_16_bytes(arguments.x) && is_on_16_bytes(arguments.weight) &&
                       whole(arguments.in) && whole(arguments.x_row_stride) &&
                       whole(arguments.weight_row_stride) &&
                       (!individual || whole(arguments.x_individual_stride));
  access.aligned_noise =
      arguments.offset % kNoiseBlock == 0 && arguments.noise_row_stride % kNoiseBlock == 0;
  const double widest = std::max(
      {extent(individual ? arguments.pop : 1, arguments.x_individual_stride, arguments.batch,
              arguments.x_row_stride, arguments.in),
       extent(1, 0, arguments.out, arguments.weight_row_stride, arguments.in),
       extent(arguments.pop, arguments.y_individual_stride, arguments.batch, arguments.y_row_stride,
              arguments.out),
       static_cast<double>(arguments.pop) * static_cast<double>(tiles_of(config, arguments))});
  access.wide_index = widest > static_cast<double>(kMaxNarrowIndex);
  return access;
}

PerturbedLinearParams params_of(const PerturbedLinearArguments& arguments) {
  return {.x = arguments.x,
          .weight = arguments.weight,
          .bias = arguments.bias,
          .y = static_cast<float*>(arguments.y),
          .seeds = seeds_of(arguments.seeds),
          .sigma_pointer = arguments.sigma.pointer,
          .offset = static_cast<unsigned long long>(arguments.offset),
          .noise_row_stride = static_cast<unsigned long long>(arguments.noise_row_stride),
          .batch = arguments.batch,
          .in = arguments.in,
          .out = arguments.out,
          .x_individual_stride = arguments.x_individual_stride,
          .x_row_stride = arguments.x_row_stride,
          .weight_row_stride = arguments.weight_row_stride,
          .y_individual_stride = arguments.y_individual_stride,
          .y_row_stride = arguments.y_row_stride,
          .first_block = 0,
          .sigma = arguments.sigma.value};
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
      device_(std::move(device)),
      threads_(static_cast<unsigned>(config.threads())),
      shared_bytes_(static_cast<unsigned>(shared_bytes(config, problem))),
      max_grid_(device_->limits().max_grid_x) {
  device_->require_context();
  const Access contiguous = contiguous_access(problem);
  any_ = load(Access{}, compiler);
  if (contiguous != Access{}) fast_ = load(contiguous, compiler);
}

std::unique_ptr<GpuPlan::Loaded> GpuPlan::load(const Access& access, Compiler& compiler) const {
  const KernelSource source = emit(problem_, config_, device_->limits(), access);
  const Compiled compiled = compiler.compile(source);
  if (!compiled.cache_hit) {
    require_driver_for(compiler.nvrtc()->version(), device_->driver()->version());
  }
  return std::make_unique<Loaded>(access, source, compiled, device_->driver());
}

GpuPlan::Loaded::Loaded(const Access& its_access, const KernelSource& source,
                        const Compiled& compiled, const std::shared_ptr<const Driver>& driver)
    : access(its_access),
      kernel(driver, compiled.binary, source.shared_bytes),
      source_file(compiled.cached_file) {
  if (!source_file.empty()) source_file.replace_extension(".cu");
}

const Kernel& GpuPlan::kernel_for(const Access& given) const {
  return fast_ && fast_->access.allows(given) ? fast_->kernel : any_->kernel;
}

template <typename Params>
void GpuPlan::launch(const Kernel& kernel, Params params, long long blocks,
                     StreamHandle stream) const {
  const Driver& driver = *device_->driver();
  void* arguments[] = {&params};
  for (; params.first_block < blocks; params.first_block += max_grid_) {
    const auto grid = static_cast<unsigned>(std::min(max_grid_, blocks - params.first_block));
    const auto start = [&] {
      return driver.cuLaunchKernel(kernel.function(), grid, 1, 1, threads_, 1, 1, shared_bytes_,
                                   stream, arguments, nullptr);
    };
    CUresult result = start();
    // Looked at only now: asking for the current context costs a good part of a launch.
    if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_INVALID_HANDLE) {
      device_->require_context();
      result = start();
    }
    driver.check(result, "cuLaunchKernel");
  }
}

void GpuPlan::run(const PerturbedLinearArguments& given, StreamHandle stream, Workspace) const {
  const auto& problem = operation_for<PerturbedLinear>(problem_, "perturbed-linear");
  const PerturbedLinearArguments arguments = checked(problem, given);
  if (arguments.pop == 0 || arguments.batch == 0 || arguments.out == 0) return;
  launch(kernel_for(access_of(problem, config_, arguments)), params_of(arguments),
         arguments.pop * tiles_of(config_, arguments), stream);
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
    launch(any_->kernel, params, block.rows * segments, stream);
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
  launch(any_->kernel, params, arguments.pop, stream);
}

std::string GpuPlan::explain() const {
  std::string text =
      fmt::format("device:   GPU {} {}\nproblem:  {}\nconfig:   {}\nstages:   {}; {}\n",
                  device_->ordinal(), device_->name(), command_flags(problem_), to_string(config_),
                  config_.stages, pipeline_depth(config_, problem_, device_->limits()).explain());
  for (const Loaded* loaded : {fast_.get(), any_.get()}) {
    if (!loaded) continue;
    const ResourceUsage& usage = loaded->kernel.usage();
    text += fmt::format("kernel:   {} for access {}: {} registers, {} bytes spilled{}{}\n",
                        loaded->kernel.entry(), to_string(loaded->access), usage.registers,
                        usage.spill_store_bytes, loaded->source_file.empty() ? "" : "; source ",
                        loaded->source_file.string());
  }
  return text;
}

}  // namespace vnjit
