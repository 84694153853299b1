#pragma once

#include "training.hpp"

namespace es_digits {

/// Shows a training's progress on standard output: one line written over and over on a terminal,
/// a line every tenth generation elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(std::int64_t generations);

  void show(const Progress& progress);

 private:
  std::int64_t generations_;
  bool terminal_;
};

}  // namespace es_digits
