#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench_device.hpp"
#include "bench_row.hpp"

namespace vnjit::cli {

/// A property of a case: a column of its table, and a value of its JSON.
struct Field {
  std::string_view head;
  int width;  ///< of the column; negative: to the left
  std::string_view key;
  nlohmann::ordered_json value;
};

/// What is measured of an operation, and how it is shown.
struct Suite {
  std::string_view name;
  std::vector<BenchCase> (*cases)();
  /// `count` cases of random sizes; null where there are none.
  std::vector<BenchCase> (*random_cases)(std::int64_t count, std::uint64_t seed) = nullptr;
  std::vector<Field> (*fields)(const BenchCase& subject);  ///< the name is the first
  Work (*work)(const BenchCase& subject);
  /// Adds what is measured to a row with a config. False, with a note, where a run did not write
  /// all that it has to. Throws what Plan::run does.
  bool (*measure)(BenchDevice& device, const Plan& plan, BenchRow& row);
  bool has_ceiling = false;  ///< a row shows what the generator makes by itself
};

/// Throws InvalidArgument naming the suites there are.
Suite suite_named(std::string_view name);

/// The names of all suites, separated by commas.
std::string suite_names();

/// A noise to measure a sum with, and what it adds to the name of a case: nothing for the default.
struct NoiseVariant {
  std::string suffix;
  NoiseSpec noise;
};
std::vector<NoiseVariant> noise_variants();

/// The suite's cases of these names, in that order; all of them for no names. Throws
/// InvalidArgument naming the cases there are.
std::vector<BenchCase> named_cases(const Suite& suite, std::span<const std::string> names);

}  // namespace vnjit::cli
