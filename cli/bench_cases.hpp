#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vnjit/codegen/problem.hpp"

namespace vnjit::cli {

/// A forward problem to measure, by name.
struct BenchCase {
  std::string name;
  PerturbedLinear problem;
};

/// `F1` to `F7` in fp16, `F1-bf16` to `F7-bf16`, and `F1-triton`: triton noise, fp32 inputs and a
/// tf32 product.
std::vector<BenchCase> forward_cases();

/// `R1`, `R2`, …: fp16 problems of both layouts whose pop, batch, in and out are log-uniform. Half
/// of them have an `in` of whole noise blocks (64), a quarter of 16, the others any. The same seed
/// draws the same cases, of which the first do not depend on `count`.
std::vector<BenchCase> random_cases(std::int64_t count, std::uint64_t seed);

/// The forward cases of these names, in that order; all of them for no names. Throws
/// InvalidArgument listing the names there are.
std::vector<BenchCase> named_cases(std::span<const std::string> names);

}  // namespace vnjit::cli
