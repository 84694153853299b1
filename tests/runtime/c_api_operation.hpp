#pragma once

#include "c_api_fixture.hpp"
#include "vnjit/runtime/runtime.hpp"

// One operation on the CPU, through the C API and through the C++ API.

namespace vnjit::tests {

inline constexpr vnjit_noise kNoise{VNJIT_GENERATOR_PHILOX, VNJIT_DISTRIBUTION_UNIFORM, 10, 1};
inline constexpr NoiseSpec kCppNoise{Generator::philox, Distribution::uniform, 10, true};
inline constexpr float kSigma = -0.25f;

class CApiOperation : public CApiTest {
 protected:
  template <typename Problem, typename Arguments>
  void run(const Problem& problem, const Arguments& arguments) {
    const CPlan plan = plan_of(problem);
    EXPECT_EQ(vnjit_plan_run(plan.get(), &arguments.base, nullptr, nullptr, 0, &error), VNJIT_OK)
        << error.message;
  }

  template <typename Arguments>
  void run_cpp(const Problem& problem, const Arguments& arguments) {
    cpp_runtime.plan(problem, cpp_runtime.cpu())->run(arguments);
  }

  Runtime cpp_runtime{Options{}};
};

}  // namespace vnjit::tests
