#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench_suite.hpp"
#include "vnjit/codegen/config.hpp"

namespace vnjit::cli {

/// A run of the benchmark as the flags ask for it.
struct BenchRequest {
  Suite suite{};
  std::vector<BenchCase> cases;
  std::vector<BenchCase> random;
  std::optional<Config> config;  ///< of `cases`; none: the library chooses
  double seconds = 0;            ///< of measuring a case
  std::uint64_t seed = 0;
  std::optional<std::string> json;  ///< the file for the numbers
  bool list = false;                ///< predict, and measure nothing
  std::optional<int> device;        ///< a GPU; none: the limits of `arch`, to list
  std::string arch;
};

/// The flags of `bench`. Bound to its parser, so it neither moves nor is copied, and lives as long
/// as the parser is used.
class BenchFlags {
 public:
  explicit BenchFlags(CLI::App& command);
  BenchFlags(const BenchFlags&) = delete;
  BenchFlags& operator=(const BenchFlags&) = delete;

  /// Throws InvalidArgument and ConfigError naming the flag.
  BenchRequest request() const;

 private:
  void refuse_contradictions() const;
  std::int64_t random_count(const Suite& suite) const;
  std::uint64_t seed() const;
  int device() const;

  std::string suite_;
  std::vector<std::string> cases_;
  std::optional<std::string> random_, seed_, config_, json_, device_, arch_;
  std::string repeat_ = "0.3";
  bool list_ = false;
};

}  // namespace vnjit::cli
