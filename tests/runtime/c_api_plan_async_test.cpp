#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "c_api_fixture.hpp"

namespace vnjit::tests {
namespace {

using testing::HasSubstr;

using CRequest = std::unique_ptr<vnjit_plan_request, Destroy<vnjit_plan_request_destroy>>;

class CApiPlanAsync : public CApiTest {
 protected:
  CApiPlanAsync() {
    vnjit_reduce_metric_init(&problem);
    problem.base.pop = 4;
    problem.params = 10;
  }
  CRequest begin() {
    vnjit_plan_request* made = nullptr;
    EXPECT_EQ(
        vnjit_plan_create_async(runtime.get(), cpu.get(), &problem.base, nullptr, &made, &error),
        VNJIT_OK)
        << error.message;
    return CRequest(made);
  }

  vnjit_reduce_metric problem;
};

TEST_F(CApiPlanAsync, WaitsAndGivesThePlan) {
  const CRequest request = begin();
  std::int32_t ready = 7;
  ASSERT_EQ(vnjit_plan_request_wait(request.get(), -1, &ready, &error), VNJIT_OK);
  EXPECT_EQ(ready, 1);
  ready = 7;
  ASSERT_EQ(vnjit_plan_request_wait(request.get(), 0, &ready, &error), VNJIT_OK);
  EXPECT_EQ(ready, 1);
  for (const auto give : {vnjit_plan_request_get, vnjit_plan_request_now}) {
    vnjit_plan* plan = nullptr;
    ASSERT_EQ(give(request.get(), &plan, &error), VNJIT_OK);
    ASSERT_NE(plan, nullptr);
    const CPlan owned(plan);
    char text[1000];
    ASSERT_EQ(vnjit_plan_explain(owned.get(), text, sizeof(text), nullptr, &error), VNJIT_OK);
    EXPECT_THAT(text, HasSubstr("reduce-metric"));
  }
}

TEST_F(CApiPlanAsync, ARequestMayBeDestroyedAtOnce) {
  begin();
  vnjit_plan_request_destroy(nullptr);
}

TEST_F(CApiPlanAsync, WhatIsNoProblemIsRefusedAtOnce) {
  problem.params = -1;
  vnjit_plan_request* made = nullptr;
  EXPECT_THAT(refusal(vnjit_plan_create_async(runtime.get(), cpu.get(), &problem.base, nullptr,
                                              &made, &error)),
              HasSubstr("VNJIT_ERROR_INVALID_ARGUMENT: params is -1"));
  EXPECT_EQ(made, nullptr);
}

TEST_F(CApiPlanAsync, NullPointersAreRefusedByName) {
  const CRequest request = begin();
  vnjit_plan* plan = nullptr;
  std::int32_t ready = 0;
  EXPECT_THAT(refusal(vnjit_plan_request_wait(nullptr, 0, &ready, &error)),
              HasSubstr("request is null"));
  EXPECT_THAT(refusal(vnjit_plan_request_wait(request.get(), 0, nullptr, &error)),
              HasSubstr("ready is null"));
  EXPECT_THAT(refusal(vnjit_plan_request_get(nullptr, &plan, &error)),
              HasSubstr("request is null"));
  EXPECT_THAT(refusal(vnjit_plan_request_get(request.get(), nullptr, &error)),
              HasSubstr("plan is null"));
  EXPECT_THAT(refusal(vnjit_plan_request_now(request.get(), nullptr, &error)),
              HasSubstr("plan is null"));
}

TEST_F(CApiPlanAsync, ExplainsWhyTwoKernelsDoNotShareABinary) {
  vnjit_reduce_metric other = problem;
  other.params = 20;
  other.base.noise.antithetic = 1;
  size_t needed = 0;
  const auto explain = [&](char* text, size_t capacity) {
    return vnjit_explain_key(runtime.get(), &problem.base, nullptr, &other.base, nullptr, "sm_90",
                             text, capacity, &needed, &error);
  };
  const vnjit_status status = explain(nullptr, 0);
  if (status == VNJIT_ERROR_UNAVAILABLE) GTEST_SKIP() << error.message;
  ASSERT_EQ(status, VNJIT_OK) << error.message;
  std::string text(needed, '?');
  ASSERT_EQ(explain(text.data(), text.size()), VNJIT_OK) << error.message;
  EXPECT_THAT(text, HasSubstr("two binaries: "));
  EXPECT_THAT(text, HasSubstr("  params      10 and 20: not part of the key\n"));
  EXPECT_THAT(text, HasSubstr("  antithetic  false and true: part of the key\n"));
}

TEST_F(CApiPlanAsync, ACacheBoundBelowZeroIsRefused) {
  options.cache_bytes = -2;
  vnjit_runtime* made = nullptr;
  EXPECT_THAT(refusal(vnjit_runtime_create(&options, &made, &error)),
              HasSubstr("cache_bytes is -2; it must be at least 0, or -1 for what"));
}

}  // namespace
}  // namespace vnjit::tests
