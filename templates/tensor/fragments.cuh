#pragma once

// The generator puts a kernel's choice of pipeline, product and noise here. These are samples: with
// them an editor and a compiler take every template as it is.

#include "tensor/noise_bytes_aligned.cuh"
#include "wgmma/pipeline.cuh"
#include "wgmma/product.cuh"
