#include "vnjit/runtime/gpu/tensor_linear.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/tensor_config.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/gpu/linear_access.hpp"
#include "vnjit/runtime/gpu/linear_params.hpp"
#include "vnjit/runtime/gpu/linear_workspace.hpp"
#include "vnjit/runtime/gpu/stream_memory.hpp"
#include "vnjit/runtime/gpu/tensor_maps.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kConvertThreads = 256;
constexpr int kConvertBlocksPerSm = 8;

void require_tensor_maps(const Driver& driver) {
  if (driver.cuTensorMapEncodeTiled) return;
  throw Unavailable(
      fmt::format("wgmma needs the driver's cuTensorMapEncodeTiled, which came with CUDA 12.0; {} "
                  "is of CUDA {}.{}: use a newer driver, or family mma_sync",
                  driver.path().string(), driver.version().major, driver.version().minor));
}

/// Kernels count rows and columns in 32 bits, and have no step of `in` to leave out.
bool has_tensor_sizes(const PerturbedLinearArguments& sizes) {
  const auto fits = [](std::int64_t size) { return size > 0 && size <= kMaxNarrowIndex; };
  return fits(sizes.pop) && fits(sizes.batch) && fits(sizes.in) && fits(sizes.out);
}

}  // namespace

TensorLinear::TensorLinear(const PerturbedLinear& problem, const Config& config,
                           std::shared_ptr<GpuDevice> device, Compiler& compiler)
    : problem_(problem),
      config_(config),
      base_config_(base_product_config(problem, device->limits())),
      access_(contiguous_access(problem)),
      device_(std::move(device)) {
  const DeviceLimits& limits = device_->limits();
  const TemplateFiles& templates = compiler.templates();
  const auto load = [&](const KernelSource& source) {
    return std::make_unique<const LoadedKernel>(source, device_, compiler);
  };
  if (config.family == Family::wgmma) require_tensor_maps(*device_->driver());
  main_ = load(emit(problem, config, limits, access_, templates));
  if (uses_base_product(config, problem))
    base_ = load(emit_base_product(problem, limits, access_, templates));
  if (converts_inputs(config, problem)) convert_ = load(emit_convert(problem, limits, templates));
  if (quantizes_inputs(config, problem))
    quantize_ = load(emit_quantize(problem, limits, templates));
}

/// Of an element of X and W as the kernels read them; a quantized X is made of what is given.
std::int64_t TensorLinear::operand_bytes() const {
  return quantize_ ? size_bytes(problem_.input) : kRowBytes / step_in(problem_);
}

/// Shares of the main kernel's work: tiles of groups of individuals.
std::int64_t TensorLinear::units(const PerturbedLinearArguments& arguments) const {
  const std::int64_t individuals =
      stores_pairs(config_, problem_) ? arguments.pop / 2 : arguments.pop;
  return tiles_of(config_, arguments) * ceil_div(individuals, config_.individuals);
}

/// The arguments with X and W as the kernels read them: given, or converted in the workspace.
PerturbedLinearArguments TensorLinear::operands(const PerturbedLinearArguments& arguments,
                                                std::byte* memory) const {
  if (!convert_) return arguments;
  PerturbedLinearArguments result = arguments;
  const LinearWorkspace parts = linear_workspace(config_, problem_, arguments);
  result.x = memory ? memory + parts.x : nullptr;
  result.weight = memory ? memory + parts.weight : nullptr;
  result.x_row_stride = result.weight_row_stride = converted_row_stride(arguments.in);
  if (problem_.layout == InputLayout::individual) {
    result.x_individual_stride = arguments.batch * result.x_row_stride;
  }
  return result;
}

bool TensorLinear::takes(const PerturbedLinearArguments& arguments) const {
  if (!has_tensor_sizes(arguments)) return false;
  PerturbedLinearArguments read = operands(arguments, nullptr);
  if (convert_) read.in = read.x_row_stride;  // rows end in zeros
  const Access given = access_of(problem_, read, operand_bytes(), units(arguments));
  return access_.allows(given) &&
         (config_.family != Family::wgmma || has_tensor_maps(read, operand_bytes()));
}

std::size_t TensorLinear::workspace_bytes(const PerturbedLinearArguments& sizes) const {
  return has_tensor_sizes(sizes) ? linear_workspace(config_, problem_, sizes).bytes : 0;
}

void TensorLinear::run(const PerturbedLinearArguments& arguments, StreamHandle stream,
                       const Workspace& workspace) const {
  const LinearWorkspace parts = linear_workspace(config_, problem_, arguments);
  const StreamMemory memory(*device_, workspace, parts.bytes, stream);
  const PerturbedLinearArguments read = operands(arguments, memory.data());
  const PerturbedLinearParams params = params_of(problem_, read);
  PerturbedLinearParams main = params;
  if (convert_) convert(arguments, read, stream);
  if (quantize_) {
    const QuantizeParams target = {
        .x = arguments.x,
        .q = reinterpret_cast<signed char*>(memory.data() + parts.quantized),
        .row_scales = reinterpret_cast<RowScale*>(memory.data() + parts.row_scales),
        .rows = arguments.batch,
        .in = arguments.in,
        .x_row_stride = arguments.x_row_stride,
        .q_row_stride = quantized_row_stride(arguments.in)};
    quantize(target, stream);
    main.x = target.q;
    main.x_row_stride = target.q_row_stride;
    main.row_scales = target.row_scales;
  }
  if (base_) {  // the last before the main kernel, which starts with it
    auto* base = reinterpret_cast<float*>(memory.data() + parts.base);
    make_base(params, base, stream);
    main.base = base;
    main.base_row_stride = base_row_stride(params.out);
  }
  run_main(main, units(arguments), stream);
}

/// Blocks that work through `units` shares: no more than the device holds at once.
std::int64_t TensorLinear::blocks_for(std::int64_t units, int blocks_per_sm) const {
  return std::min(units, std::int64_t{device_->limits().sm_count} * blocks_per_sm);
}

void TensorLinear::convert(const PerturbedLinearArguments& from, const PerturbedLinearArguments& to,
                           StreamHandle stream) const {
  const bool individual = problem_.layout == InputLayout::individual;
  convert_rows({.source = static_cast<const float*>(from.x),
                .target = const_cast<void*>(to.x),
                .slices = individual ? from.pop : 1,
                .rows = from.batch,
                .columns = from.in,
                .source_slice_stride = from.x_individual_stride,
                .source_row_stride = from.x_row_stride,
                .target_row_stride = to.x_row_stride,
                .vector_source = 0},
               stream);
  convert_rows({.source = static_cast<const float*>(from.weight),
                .target = const_cast<void*>(to.weight),
                .slices = 1,
                .rows = from.out,
                .columns = from.in,
                .source_slice_stride = 0,
                .source_row_stride = from.weight_row_stride,
                .target_row_stride = to.weight_row_stride,
                .vector_source = 0},
               stream);
}

void TensorLinear::convert_rows(ConvertParams params, StreamHandle stream) const {
  constexpr std::int64_t kVector = 4;
  params.vector_source = is_multiple(params.source, kVector * 4) &&
                         params.source_row_stride % kVector == 0 &&
                         params.source_slice_stride % kVector == 0;
  const std::int64_t pieces = params.slices * params.rows * (params.target_row_stride / 8);
  void* arguments[] = {&params};
  convert_->launch(blocks_for(ceil_div(pieces, kConvertThreads), kConvertBlocksPerSm), arguments,
                   stream);
}

void TensorLinear::quantize(QuantizeParams params, StreamHandle stream) const {
  constexpr std::int64_t kBlockRows = kConvertThreads / 32;
  void* arguments[] = {&params};
  quantize_->launch(blocks_for(ceil_div(params.rows, kBlockRows), kConvertBlocksPerSm), arguments,
                    stream);
}

void TensorLinear::make_base(PerturbedLinearParams params, float* base, StreamHandle stream) const {
  params.y = base;
  params.seeds = nullptr;
  params.pop = 1;
  params.y_row_stride = base_row_stride(params.out);
  params.y_individual_stride = params.batch * params.y_row_stride;
  params.vector_y = 1;
  void* arguments[] = {&params};
  const std::int64_t units = ceil_div(params.out, base_config_.block_out) *
                             ceil_div(params.batch, base_config_.block_batch);
  base_->launch(blocks_for(units, base_config_.blocks_per_sm), arguments, stream);
}

void TensorLinear::run_main(PerturbedLinearParams params, std::int64_t units,
                            StreamHandle stream) const {
  TensorMaps maps;
  void* arguments[] = {&params, &maps.x, &maps.weight};
  if (config_.family == Family::wgmma) {
    maps = encode_tensor_maps(*device_->driver(), config_, problem_, params);
  }
  // Its template waits for the base product only where it reads it.
  const bool early = base_ && device_->limits().compute_major >= 9;
  main_->launch(blocks_for(units, config_.blocks_per_sm), arguments, stream, {.early = early});
}

std::string TensorLinear::explain() const {
  const std::string access = to_string(access_);
  std::string text;
  if (convert_) text += convert_->describe("convert");
  if (quantize_) text += quantize_->describe("quantize");
  if (base_) text += base_->describe("base product", access);
  return text + main_->describe("main", access);
}

std::string TensorLinear::refused() const {
  std::string text = fmt::format("in = 0; pop, batch, in or out above {}", kMaxNarrowIndex);
  if (access_.vector_rows && !convert_) {
    text += "; rows of X or W that start or end off 16-byte boundaries";
  }
  if (access_.noise_alignment > 1) {
    text += fmt::format("; offset or noise_row_stride no multiple of {}", access_.noise_alignment);
  }
  if (!access_.wide_index)
    text += fmt::format("; X, W or Y of more than {} elements", kMaxNarrowIndex);
  if (!access_.wide_counter) {
    text += fmt::format("; noise elements from {}", narrow_noise_elements(problem_.noise));
  }
  return text;
}

}  // namespace vnjit
