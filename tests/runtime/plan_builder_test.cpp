#include "vnjit/runtime/plan_builder.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "child_process.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

ReduceMetric problem_of(std::int64_t params) { return {.pop = 4, .params = params}; }

/// Builds plans of the CPU backend, each when its gate is opened.
class PlanBuilderTest : public testing::Test {
 protected:
  std::shared_ptr<const Plan> build(const PlanKey& key, const std::shared_ptr<Device>& device,
                                    const PlanBuilder::Offer& offer) {
    ++begun;
    if (offer && offered) offer(offered);
    if (gated) gate.get_future().wait();
    if (fails) throw CompileError("it does not compile", "log", "source");
    return maker.plan(key.problem, device);
  }
  PlanBuilder::Build counting() {
    return [this](const PlanKey& key, const std::shared_ptr<Device>& device,
                  const PlanBuilder::Offer& offer) { return build(key, device, offer); };
  }
  PlanKey key(std::int64_t params = 10) const {
    return {.device = cpu.get(), .problem = problem_of(params), .config = {}};
  }
  void wait_until_begun() const {
    while (begun == 0) std::this_thread::yield();
  }

  Runtime maker{Options{}};
  std::shared_ptr<Device> cpu = maker.cpu();
  std::atomic<int> begun = 0;
  bool gated = false;
  bool fails = false;
  std::shared_ptr<const Plan> offered;
  std::promise<void> gate;
};

TEST_F(PlanBuilderTest, ARequestReturnsWhileItsPlanIsMade) {
  gated = true;
  PlanBuilder builder(8, counting());
  const PlanRequest request = builder.request(key(), cpu);
  EXPECT_FALSE(request.ready());
  EXPECT_FALSE(request.wait_for(std::chrono::milliseconds(1)));
  EXPECT_EQ(request.now(), nullptr);
  gate.set_value();
  const auto plan = request.get();
  EXPECT_TRUE(request.ready());
  EXPECT_TRUE(request.wait_for(std::chrono::milliseconds(0)));
  EXPECT_EQ(request.now(), plan);
  EXPECT_EQ(plan->problem(), Problem(problem_of(10)));
  EXPECT_EQ(builder.get(key(), cpu), plan);
  EXPECT_EQ(begun, 1);
}

TEST_F(PlanBuilderTest, ManyWhoAskForOnePlanMakeItOnce) {
  PlanBuilder builder(8, counting());
  std::vector<std::shared_ptr<const Plan>> plans(16);
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < plans.size(); ++n) {
    threads.emplace_back(
        [&, n] { plans[n] = n % 2 ? builder.get(key(), cpu) : builder.request(key(), cpu).get(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(plans, testing::Each(plans.front()));
  EXPECT_NE(plans.front(), nullptr);
  EXPECT_EQ(begun, 1);
}

TEST_F(PlanBuilderTest, OneWhoWaitsMakesAPlanThatIsStillQueued) {
  gated = true;
  PlanBuilder builder(8, counting());
  const PlanRequest first = builder.request(key(1), cpu);
  wait_until_begun();
  const PlanRequest second = builder.request(key(1), cpu);
  EXPECT_EQ(begun, 1);
  gate.set_value();
  EXPECT_EQ(first.get(), second.get());
  gated = false;
  const PlanRequest third = builder.request(key(2), cpu);
  EXPECT_EQ(builder.get(key(2), cpu), third.get());
  EXPECT_EQ(begun, 2);
}

TEST_F(PlanBuilderTest, AnErrorIsKeptForEveryCopyOfTheRequestAndForNobodyElse) {
  fails = true;
  PlanBuilder builder(8, counting());
  const PlanRequest request = builder.request(key(), cpu);
  const PlanRequest copy = request;
  for (const PlanRequest& one : {request, copy, request}) {
    EXPECT_THAT([&] { one.get(); }, ThrowsMessage<CompileError>(HasSubstr("it does not compile")));
    EXPECT_TRUE(one.ready());
    EXPECT_EQ(one.now(), nullptr);
  }
  EXPECT_THROW(builder.get(key(), cpu), CompileError);
  fails = false;
  EXPECT_NE(builder.get(key(), cpu), nullptr);
  EXPECT_EQ(begun, 3);
}

TEST_F(PlanBuilderTest, APlanOfOtherSizesDoesUntilTheOwnIsReady) {
  PlanBuilder builder(8, counting());
  const auto other = builder.get(key(20), cpu);
  gated = true;
  const PlanRequest request = builder.request(key(10), cpu);
  EXPECT_EQ(request.now(), other);
  gate.set_value();
  EXPECT_NE(request.get(), other);
  EXPECT_EQ(request.now(), request.get());
}

TEST_F(PlanBuilderTest, WhatIsOfferedDoesUntilThePlanIsReady) {
  offered = maker.plan(problem_of(30), cpu);
  gated = true;
  PlanBuilder builder(8, counting());
  const PlanRequest request = builder.request(key(), cpu);
  wait_until_begun();
  while (!request.now()) std::this_thread::yield();
  EXPECT_EQ(request.now(), offered);
  gate.set_value();
  EXPECT_NE(request.get(), offered);
}

TEST_F(PlanBuilderTest, RequestsThatWereNotBegunSayWhy) {
  std::promise<void> open;
  const std::shared_future<void> opened = open.get_future().share();
  auto builder = std::make_unique<PlanBuilder>(
      8,
      [&](const PlanKey& wanted, const std::shared_ptr<Device>& device, const PlanBuilder::Offer&) {
        ++begun;
        opened.wait();
        return maker.plan(wanted.problem, device);
      });
  std::vector<PlanRequest> requests;
  for (int n = 1; n <= 5; ++n) requests.push_back(builder->request(key(n), cpu));
  while (begun < 2) std::this_thread::yield();  // both threads
  std::thread destroyer([&] { builder.reset(); });
  EXPECT_THAT(
      [&] { requests[4].get(); },
      ThrowsMessage<Unavailable>("the Runtime was destroyed before it began to make this plan"));
  open.set_value();
  destroyer.join();
  int made = 0;
  for (const PlanRequest& request : requests) made += request.now() != nullptr;
  EXPECT_EQ(made, 2);
  EXPECT_EQ(begun, 2);
}

TEST_F(PlanBuilderTest, AChildOfForkMakesItsPlansItself) {
  PlanBuilder builder(8, counting());
  builder.request(key(1), cpu).get();
  const pid_t child = tests::start_child([&] {
    ::alarm(20);
    const bool known = builder.request(key(1), cpu).ready();
    const bool made = builder.request(key(2), cpu).get() != nullptr;
    return known && made && builder.get(key(3), cpu) ? 0 : 1;
  });
  EXPECT_EQ(tests::exit_status(child), 0);
}

TEST(PlanAsync, GivesWhatPlanGives) {
  Runtime runtime{Options{}};
  const auto cpu = runtime.cpu();
  const PlanRequest request = runtime.plan_async(problem_of(100), cpu);
  EXPECT_EQ(request.get(), runtime.plan(problem_of(100), cpu));
  EXPECT_TRUE(runtime.plan_async(problem_of(100), cpu).ready());
}

TEST(PlanAsync, RefusesWhatIsNoProblemAtOnce) {
  Runtime runtime{Options{}};
  EXPECT_THROW(runtime.plan_async(problem_of(-1), runtime.cpu()), InvalidArgument);
  EXPECT_THROW(runtime.plan_async(problem_of(1), nullptr), InvalidArgument);
}

}  // namespace
}  // namespace vnjit
