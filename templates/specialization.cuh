#pragma once

// The generator puts a specialization's own constants and types here. These are samples: with
// them an editor and a compiler take every template as it is.

#include "noise/philox_uniform8.cuh"
#include "params/gradient.cuh"
#include "types/input_f32.cuh"
#include "types/operand_f16.cuh"
#include "types/output_f32.cuh"

namespace vnjit {

using Noise = noise::PhiloxUniform8<7>;
using Index = long long;
using Counter = unsigned long long;
using GradientBlock = AdamBlockParams;
using GradientList = GradientListParams<GradientBlock>;

constexpr int kBlockOut = 64;
constexpr int kBlockBatch = 64;
constexpr int kBlockIn = 512;
constexpr int kStages = 3;
constexpr int kPendingStages = 1;
constexpr int kCopyBytes = 16;
constexpr int kIndividuals = 1;
constexpr int kWarps = 8;
constexpr int kThreads = 256;
constexpr int kCalls = 8;
constexpr Index kIn = 784;
constexpr Index kOut = 256;

}  // namespace vnjit
