#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench_row.hpp"

namespace vnjit::cli {

/// How a table compares measured and predicted time.
enum class ModelColumn {
  fraction,  ///< predicted / measured
  slowdown,  ///< measured / predicted
};

/// A table's first line and that of a row, with their line ends.
std::string table_head(ModelColumn column);
std::string table_line(const BenchRow& row, ModelColumn column);

/// `worst` and the measured row of the greatest slowdown, as a line; empty where none is measured.
std::string worst_line(const std::vector<BenchRow>& rows);

/// What a run of the benchmark found.
struct BenchReport {
  std::string suite;
  std::string device;
  std::uint64_t seed = 0;
  std::vector<BenchRow> cases{};
  std::vector<BenchRow> random{};
};

/// All numbers in full, as JSON text in SI units.
std::string to_json(const BenchReport& report);

}  // namespace vnjit::cli
