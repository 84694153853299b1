#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench_suite.hpp"

namespace vnjit::cli {

/// How a table compares measured and predicted time.
enum class ModelColumn {
  fraction,  ///< predicted / measured
  slowdown,  ///< measured / predicted
};

/// The line of a table above that of a row, and that of the row, with their line ends.
std::string table_head(const Suite& suite, const BenchRow& row, ModelColumn column);
std::string table_line(const Suite& suite, const BenchRow& row, ModelColumn column);

/// What the columns are, as lines.
std::string legend(const Suite& suite);

/// `worst` and the measured row of the greatest slowdown, as a line; empty where none is measured.
std::string worst_line(const std::vector<BenchRow>& rows);

/// What a run of the benchmark found.
struct BenchReport {
  Suite suite;
  std::string device;
  std::uint64_t seed = 0;
  std::vector<BenchRow> cases{};
  std::vector<BenchRow> random{};
};

/// All numbers in full, as JSON text in SI units.
std::string to_json(const BenchReport& report);

}  // namespace vnjit::cli
