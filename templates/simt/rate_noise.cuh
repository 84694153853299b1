#pragma once

// The generator puts a specialization's choice of fragment here. This is a sample: with it an
// editor and a compiler take every template as it is.

#include "simt/rate_words.cuh"
