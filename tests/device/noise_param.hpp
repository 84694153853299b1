#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "vnjit/codegen/noise_spec.hpp"

// Tests of each of several noises: a kernel to compile for each makes one test of all too long.

namespace vnjit {

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's
inline void PrintTo(const NoiseSpec& noise, std::ostream* stream) { *stream << to_string(noise); }

namespace tests {

/// `philox_uniform8_7`: what a test's name may hold.
inline std::string noise_name(const testing::TestParamInfo<NoiseSpec>& noise) {
  std::string name = to_string(noise.param);
  std::ranges::replace(name, ':', '_');
  return name;
}

}  // namespace tests
}  // namespace vnjit
