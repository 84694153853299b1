#pragma once

// The generator puts a specialization's choice of sums here. This is a sample: with it an editor
// and a compiler take every template as it is.

#include "gradient/sums_product.cuh"
