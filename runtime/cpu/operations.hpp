#pragma once

#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/cpu/thread_pool.hpp"

namespace vnjit::cpu {

// The operations on host memory. Arguments are checked ones, strides filled in.

void perturbed_linear(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments,
                      ThreadPool& pool);
void gradient(const Gradient& problem, const GradientArguments& arguments, ThreadPool& pool);
void reduce_metric(const ReduceMetric& problem, const ReduceMetricArguments& arguments,
                   ThreadPool& pool);

}  // namespace vnjit::cpu
