#pragma once

// The noise contract, whole: every generator and distribution, for host and device. Noise is a
// pure function of (seed, element); a weight (j, k) is element offset + j*noise_row_stride + k.

#include "noise/contract.cuh"
#include "noise/philox_normal.cuh"
#include "noise/philox_rademacher.cuh"
#include "noise/philox_uniform.cuh"
#include "noise/philox_uniform8.cuh"
#include "noise/splitmix64.cuh"
#include "noise/triton.cuh"
