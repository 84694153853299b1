#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "temp_dir.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/noise_spec.hpp"
#include "vnjit/runtime/tune/problem_json.hpp"
#include "vnjit/runtime/tune/record_store.hpp"
#include "vnjit/runtime/tune/recorded_problems.hpp"
#include "vnjit/runtime/tune/sweep.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const DeviceLimits kLimits = DeviceLimits::preset("sm_90");

template <typename Read>
std::string refusal_of(Read read) {
  try {
    read();
  } catch (const InvalidArgument& refusal) {
    return refusal.what();
  }
  return "nothing was refused";
}

// ---- Problems.

TEST(ProblemJson, EveryFieldIsReadBack) {
  for (const char* noise : {"philox:normal:10", "triton"}) {
    NoiseSpec spec = parse_noise_spec(noise);
    spec.antithetic = true;
    for (const Problem& problem :
         {Problem(PerturbedLinear{.noise = spec,
         .input = DataType::f16,
         .output = DataType::f16,
         .precision = Precision::int8,
         .bias = false,
         .layout = InputLayout::shared,
         .pop = 2,
         .batch = 3,
         .in = 4,
         .out = 5,
         .bake_shape = true}),
          Problem(Gradient{.noise = spec,
          .normalize = Normalize::unbiased,
          .update = Update::adam,
          .pop = 4,
          .rows = 5,
          .columns = std::int64_t{1} << 40}),
          Problem(Gradient{.noise = spec, .vector = true, .pop = 4, .rows = 1, .columns = 7}),
          Problem(ReduceMetric{.noise = spec, .input = DataType::bf16, .pop = 6, .params = 0})}) {
      try {
        validate(problem);
      } catch (const InvalidArgument&) {
        continue;  // int8 goes with some noise only
      }
      const std::string json = to_json(problem);
      EXPECT_EQ(problem_from_json(json), problem) << json;
      EXPECT_EQ(json.find('\n'), std::string::npos);
    }
  }
  EXPECT_EQ(to_json(ReduceMetric{}),
            R"({"operation":"reduce-metric","noise":"philox:uniform8:7","antithetic":false,)"
            R"("input":"f32","pop":256,"params":1000000})");
}

TEST(ProblemJson, WhatIsLeftOutIsTheDefault) {
  EXPECT_EQ(problem_from_json(R"({"operation":"perturbed-linear"})"), Problem(PerturbedLinear{}));
  EXPECT_EQ(problem_from_json(R"({"operation":"weight-gradient"})"), Problem(Gradient{}));
}

TEST(ProblemJson, EachMistakeIsNamed) {
  const auto refusal = [](const std::string& text) {
    return refusal_of([&] { problem_from_json(text); });
  };
  EXPECT_EQ(refusal(""), "not a problem: no JSON from byte 1 on");
  EXPECT_EQ(refusal("[1]"), "not a problem: it is no object");
  EXPECT_EQ(refusal("{}"), "operation is missing");
  EXPECT_EQ(refusal(R"({"operation":7})"), "operation is 7; it must be a text");
  EXPECT_EQ(refusal(R"({"operation":"sum"})"),
            "operation: unknown operation 'sum'; use perturbed-linear, weight-gradient, "
            "bias-gradient or reduce-metric");
  const auto with = [&](const std::string& field) {
    return refusal(R"({"operation":"reduce-metric",)" + field + "}");
  };
  EXPECT_EQ(with(R"("pop":1.5)"), "pop is 1.5; it must be a whole number of 64 bits");
  EXPECT_EQ(with(R"("pop":18446744073709551615)"),
            "pop is 18446744073709551615; it must be a whole number of 64 bits");
  EXPECT_EQ(with(R"("pop":-1)"), "pop is -1; sizes are 0 or more");
  EXPECT_EQ(with(R"("antithetic":1)"), "antithetic is 1; it must be true or false");
  EXPECT_EQ(with(R"("batch":1)"), "unknown field batch");
  EXPECT_EQ(with(R"("pop":1,"pop":2)"), "not a problem: field 'pop' is given twice");
  EXPECT_THAT(with(R"("noise":"white")"), HasSubstr("noise: "));
  EXPECT_EQ(refusal(std::string(100, '[')), "not a problem: it nests deeper than 16");
  EXPECT_THAT(refusal("{\"operation\":\"\xFF\"}"), HasSubstr("not a problem: no JSON from byte"));
}

// ---- Records.

TuningRecord record_for(const Problem& problem, double seconds = 1e-3) {
  const std::vector<Config> all = candidates(problem, kLimits);
  return {.problem = problem,
          .limits = kLimits,
          .config = all.back(),
          .seconds = seconds,
          .default_config = choose_config(problem, kLimits),
          .default_seconds = 2 * seconds,
          .measured = 7,
          .contract_version = noise_contract_version()};
}

Problem linear(std::int64_t pop, std::int64_t in = 1024) {
  return PerturbedLinear{.pop = pop, .in = in};
}

TEST(TuningRecord, IsReadBackExactly) {
  TuningRecord record = record_for(linear(64), 0.1 + 0.2);
  record.limits.name = "quotes \" and \xC3\xA9";
  EXPECT_EQ(tuning_record_from_json(to_json(record)), record);
}

TEST(TuningRecord, EachMistakeIsNamed) {
  const std::string good = to_json(record_for(linear(64)));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return refusal_of([&] { tuning_record_from_json(text); });
  };
  EXPECT_EQ(with("\"record_version\": 1", "\"record_version\": 2"),
            "record_version is 2; this library knows 1");
  EXPECT_EQ(with("\"seconds\": 0.001", "\"seconds\": 0"), "seconds is 0; it must be above 0");
  EXPECT_EQ(with("\"seconds\": 0.001", "\"seconds\": \"fast\""),
            "seconds is \"fast\"; it must be a finite number");
  EXPECT_EQ(with("\"pop\": 64", "\"pop\": true"),
            "problem.pop is true; it must be a whole number of 64 bits");
  EXPECT_EQ(with("\"sm_count\": 132", "\"sm_count\": -1"),
            "device.sm_count is -1; it must be a whole number from 0 to 2147483647");
  EXPECT_EQ(with("\"measured\": 7", "\"measured\": 7, \"more\": 1"), "unknown field more");
  EXPECT_EQ(with("\"measured\": 7", "\"other\": 7"), "measured is missing");
  EXPECT_THAT(with("\"config\": \"", "\"config\": \"x"), HasSubstr("config: "));
}

class RecordStoreTest : public testing::Test {
 protected:
  RecordStore::Report report() {
    return [this](Severity, std::string_view text) { reports.emplace_back(text); };
  }
  tests::TempDir parent;
  fs::path folder = parent / "records";
  std::vector<std::string> reports;
  RecordStore store{folder, report()};
};

TEST_F(RecordStoreTest, FindsWhatWasPut) {
  EXPECT_FALSE(store.find(linear(64), kLimits));
  EXPECT_FALSE(fs::exists(folder));
  const TuningRecord record = record_for(linear(64));
  const fs::path file = store.put(record);
  EXPECT_THAT(file.filename().string(),
              testing::MatchesRegex("[0-9a-f]+-pop64-batch64-in1024-out1024.json"));
  const auto found = store.find(linear(64), kLimits);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record, record);
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(found->file, file);
  EXPECT_EQ(RecordStore(folder, report()).find(linear(64), kLimits)->record, record);
  EXPECT_THAT(reports, IsEmpty());
}

TEST_F(RecordStoreTest, OfOtherSizesTakesTheNearest) {
  for (const std::int64_t pop : {16, 64, 200}) store.put(record_for(linear(pop)));
  const auto pop_for = [&](std::int64_t pop) -> std::int64_t {
    const auto found = store.find(linear(pop), kLimits);
    if (!found) return -1;
    EXPECT_EQ(found->exact, pop == 16 || pop == 64 || pop == 200);
    return std::get<PerturbedLinear>(found->record.problem).pop;
  };
  EXPECT_EQ(pop_for(16), 16);
  EXPECT_EQ(pop_for(20), 16);
  EXPECT_EQ(pop_for(60), 64);
  EXPECT_EQ(pop_for(512), 200);
  EXPECT_EQ(pop_for(1024), -1);  // more than two octaves away
  EXPECT_EQ(pop_for(4), 16);
  EXPECT_EQ(pop_for(3), -1);
  EXPECT_FALSE(store.find(linear(64, 16384), kLimits));
}

TEST_F(RecordStoreTest, OtherProblemsAndDevicesHaveOtherRecords) {
  store.put(record_for(linear(64)));
  EXPECT_FALSE(store.find(PerturbedLinear{.bias = false, .pop = 64}, kLimits));
  EXPECT_FALSE(store.find(ReduceMetric{}, kLimits));
  DeviceLimits other = kLimits;
  other.sm_count = 114;
  EXPECT_FALSE(store.find(linear(64), other));
  other = kLimits;
  other.shared_per_sm -= 1024;
  EXPECT_FALSE(store.find(linear(64), other));
  other = kLimits;
  other.name = "the same by another name";
  other.clock_mhz = 1000;
  EXPECT_TRUE(store.find(linear(64), other));
}

TEST_F(RecordStoreTest, AConfigThatDoesNotFitTheSizesIsPassedOver) {
  TuningRecord near = record_for(PerturbedLinear{.input = DataType::f16, .pop = 64, .in = 1024});
  near.config = choose_config(near.problem, kLimits, Family::wgmma);
  store.put(near);
  // wgmma needs rows on 16-byte boundaries, which 1001 elements of 16 bits are not.
  EXPECT_FALSE(store.find(PerturbedLinear{.input = DataType::f16, .pop = 64, .in = 1001}, kLimits));
  EXPECT_TRUE(store.find(PerturbedLinear{.input = DataType::f16, .pop = 64, .in = 1008}, kLimits));
}

TEST_F(RecordStoreTest, WhatIsDamagedOrUnderAnotherNameIsSaidOnceAndNotUsed) {
  const fs::path file = store.put(record_for(linear(64)));
  const fs::path other = folder / record_file_name(linear(80), kLimits);
  fs::copy_file(file, other);
  tests::write_file(file, "{\"record_version\": 1");
  RecordStore reader(folder, report());
  for (int n = 0; n < 3; ++n) EXPECT_FALSE(reader.find(linear(64), kLimits));
  EXPECT_THAT(
      reports,
      testing::UnorderedElementsAre(
          AllOf(HasSubstr(file.string()), HasSubstr("not a tuning record: no JSON")),
          AllOf(HasSubstr(other.string()), HasSubstr("its content is not what its name says"))));
}

TEST_F(RecordStoreTest, FilesThatAreCopiedInAreFound) {
  tests::TempDir elsewhere;
  RecordStore there(elsewhere / "records", report());
  const fs::path file = there.put(record_for(linear(64)));
  store.put(record_for(linear(16)));
  EXPECT_EQ(std::get<PerturbedLinear>(store.find(linear(64), kLimits)->record.problem).pop, 16);
  fs::copy_file(file, folder / file.filename());
  EXPECT_TRUE(store.find(linear(64), kLimits)->exact);
}

TEST_F(RecordStoreTest, AFolderThatOthersMayWriteToIsNotUsed) {
  store.put(record_for(linear(64)));
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  RecordStore reader(folder, report());
  EXPECT_FALSE(reader.find(linear(64), kLimits));
  EXPECT_FALSE(reader.find(linear(64), kLimits));
  EXPECT_THAT(reports, ElementsAre(HasSubstr("its group or others may write to it")));
  EXPECT_THROW(reader.put(record_for(linear(64))), Error);
}

TEST_F(RecordStoreTest, EightThreadsPutAndFind) {
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([&, n] {
      for (int round = 0; round < 20; ++round) {
        store.put(record_for(linear(64 + n % 3)));
        store.find(linear(64), kLimits);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(store.find(linear(65), kLimits)->exact);
  EXPECT_THAT(reports, IsEmpty());
}

// ---- Problems of a host program.

TEST(RecordedProblems, EachIsALineOnce) {
  const tests::TempDir folder;
  const fs::path file = folder / "problems.jsonl";
  const std::string first = to_json(ReduceMetric{}) + '\n';
  tests::write_file(file, first);
  RecordedProblems recorded(file, {});
  for (int n = 0; n < 3; ++n) {
    recorded.add(ReduceMetric{});
    recorded.add(linear(3));
  }
  EXPECT_EQ(tests::read_file(file), first + to_json(linear(3)) + '\n');
}

TEST(RecordedProblems, AFileThatCannotBeWrittenIsSaidOnce) {
  std::vector<std::string> reports;
  RecordedProblems recorded("/proc/none/problems",
                            [&](Severity, std::string_view text) { reports.emplace_back(text); });
  recorded.add(linear(3));
  recorded.add(linear(4));
  EXPECT_THAT(reports, ElementsAre("problems are not recorded in /proc/none/problems: No such file "
                                   "or directory"));
}

// ---- Sweeps of an H200.

TEST(StoredSweep, PredictionsRankAsTimesDo) {
  for (const auto& [name, least] :
       {std::pair("h200_f1.json", 0.85), std::pair("h200_f4.json", 0.7)}) {
    const SweepResult sweep = sweep_result_from_json(
        tests::read_file(fs::path(VNJIT_TESTS_DIR) / "golden/sweeps" / name));
    EXPECT_GE(rank_correlation(sweep), least) << name;
    EXPECT_TRUE(sweep.winner) << name;
  }
}

TEST(StoredSweep, AWinnerIsFasterThanTheDefaultByMoreThanTheNoise) {
  const SweepResult sweep = sweep_result_from_json(
      tests::read_file(fs::path(VNJIT_TESTS_DIR) / "golden/sweeps/h200_f6.json"));
  const Candidate& winner = sweep.candidates.at(sweep.winner.value());
  EXPECT_LT(winner.seconds, (1 - sweep.noise) * sweep.candidates.front().seconds);
}

}  // namespace
}  // namespace vnjit
