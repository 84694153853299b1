#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "vnjit/vnjit.h"

// What tests of the C API share: handles that are destroyed, and a runtime that touches nothing.

namespace vnjit::tests {

template <auto kDestroy>
struct Destroy {
  template <typename Handle>
  void operator()(Handle* handle) const {
    kDestroy(handle);
  }
};

using CRuntime = std::unique_ptr<vnjit_runtime, Destroy<vnjit_runtime_destroy>>;
using CDevice = std::unique_ptr<vnjit_device, Destroy<vnjit_device_destroy>>;
using CPlan = std::unique_ptr<vnjit_plan, Destroy<vnjit_plan_destroy>>;

class CApiTest : public testing::Test {
 protected:
  CApiTest() {
    vnjit_error_init(&error);
    vnjit_options_init(&options);
    options.read_environment = 0;
    options.cpu_threads = 2;
    runtime = make_runtime();
    vnjit_device* made = nullptr;
    EXPECT_EQ(vnjit_device_cpu(runtime.get(), &made, &error), VNJIT_OK) << error.message;
    cpu.reset(made);
  }

  CRuntime make_runtime() {
    vnjit_runtime* made = nullptr;
    EXPECT_EQ(vnjit_runtime_create(&options, &made, &error), VNJIT_OK) << error.message;
    return CRuntime(made);
  }

  template <typename C>
  CPlan plan_of(const C& problem, const char* config = nullptr) {
    vnjit_plan* made = nullptr;
    EXPECT_EQ(vnjit_plan_create(runtime.get(), cpu.get(), &problem.base, config, &made, &error),
              VNJIT_OK)
        << error.message;
    return CPlan(made);
  }

  /// The message with which a call that was given `error` is refused.
  std::string refusal(vnjit_status status) {
    EXPECT_EQ(status, error.status);
    return std::string(vnjit_status_name(status)) + ": " + error.message;
  }

  vnjit_error error;
  vnjit_options options;
  CRuntime runtime;
  CDevice cpu;
};

}  // namespace vnjit::tests
