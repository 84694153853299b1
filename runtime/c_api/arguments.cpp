#include "vnjit/runtime/c_api/arguments.hpp"

#include <fmt/format.h>

namespace vnjit::c_api {
namespace {

Sigma sigma_of(const vnjit_arguments& base) {
  return base.sigma_pointer != nullptr ? Sigma(base.sigma_pointer) : Sigma(base.sigma);
}

GradientBlock to_cpp(const vnjit_gradient_block& given) {
  return {.offset = given.offset,
          .rows = given.rows,
          .columns = given.columns,
          .output = given.output,
          .output_row_stride = given.output_row_stride,
          .noise_row_stride = given.noise_row_stride,
          .weight = given.weight,
          .first_moment = given.first_moment,
          .second_moment = given.second_moment,
          .weight_row_stride = given.weight_row_stride};
}

UpdateStep update_of(const vnjit_gradient_arguments& given) {
  return {.learning_rate = given.learning_rate,
          .beta1 = given.beta1,
          .beta2 = given.beta2,
          .epsilon = given.epsilon,
          .step = given.step};
}

template <typename T>
T empty_arguments(vnjit_operation operation) {
  T arguments{};
  arguments.base.operation = operation;
  return arguments;
}

}  // namespace

PerturbedLinearArguments to_cpp(const vnjit_perturbed_linear_arguments& given) {
  return {.x = given.x,
          .weight = given.weight,
          .bias = given.bias,
          .seeds = given.base.seeds,
          .y = given.y,
          .sigma = sigma_of(given.base),
          .offset = given.offset,
          .pop = given.base.pop,
          .batch = given.batch,
          .in = given.in,
          .out = given.out,
          .x_row_stride = given.x_row_stride,
          .x_individual_stride = given.x_individual_stride,
          .weight_row_stride = given.weight_row_stride,
          .y_row_stride = given.y_row_stride,
          .y_individual_stride = given.y_individual_stride,
          .noise_row_stride = given.noise_row_stride};
}

GradientArguments to_cpp(const vnjit_gradient_arguments& given,
                         const std::vector<GradientBlock>& blocks) {
  return {.fitness = given.fitness,
          .seeds = given.base.seeds,
          .sigma = sigma_of(given.base),
          .pop = given.base.pop,
          .pop_size = given.pop_size,
          .update = update_of(given),
          .blocks = blocks};
}

ReduceMetricArguments to_cpp(const vnjit_reduce_metric_arguments& given) {
  return {.center = given.center,
          .seeds = given.base.seeds,
          .metric = given.metric,
          .sigma = sigma_of(given.base),
          .offset = given.offset,
          .pop = given.base.pop,
          .params = given.params};
}

std::vector<GradientBlock> blocks_of(const vnjit_gradient_arguments& given) {
  std::vector<GradientBlock> blocks;
  if (given.block_count == 0) return blocks;
  // The array's stride is the size of the block that the caller was compiled with.
  const std::size_t stride = required(given.blocks, "blocks").struct_size;
  const auto* next = reinterpret_cast<const std::byte*>(given.blocks);
  blocks.reserve(given.block_count);
  for (std::size_t index = 0; index < given.block_count; ++index, next += stride) {
    const auto* block = reinterpret_cast<const vnjit_gradient_block*>(next);
    if (block->struct_size != stride) {
      throw InvalidArgument(
          fmt::format("blocks[{}].struct_size is {}; it must be {}, as that of blocks[0]", index,
                      block->struct_size, stride));
    }
    blocks.push_back(to_cpp(adopted<vnjit_gradient_block>(block)));
  }
  return blocks;
}

template <>
vnjit_perturbed_linear_arguments defaults() {
  return empty_arguments<vnjit_perturbed_linear_arguments>(VNJIT_OPERATION_PERTURBED_LINEAR);
}

template <>
vnjit_gradient_arguments defaults() {
  auto arguments = empty_arguments<vnjit_gradient_arguments>(VNJIT_OPERATION_GRADIENT);
  const UpdateStep step;
  arguments.learning_rate = step.learning_rate;
  arguments.beta1 = step.beta1;
  arguments.beta2 = step.beta2;
  arguments.epsilon = step.epsilon;
  arguments.step = step.step;
  return arguments;
}

template <>
vnjit_reduce_metric_arguments defaults() {
  return empty_arguments<vnjit_reduce_metric_arguments>(VNJIT_OPERATION_REDUCE_METRIC);
}

}  // namespace vnjit::c_api
