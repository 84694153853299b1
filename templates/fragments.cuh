#pragma once

// The generator puts a specialization's choice of alternative fragments here. These are samples:
// with them an editor and a compiler take every template as it is.

#include "simt/copy_async.cuh"
#include "simt/perturb_aligned_blocks.cuh"
