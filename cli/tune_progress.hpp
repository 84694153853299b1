#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "vnjit/runtime/tune/sweep.hpp"

namespace vnjit::cli {

/// One line on how far a sweep is, without its end.
std::string progress_line(const SweepProgress& progress);

/// Shows a sweep's progress on a stream: one line that is rewritten on a terminal, else a line each
/// time the phase changes or five seconds have passed.
class TuneProgress {
 public:
  using Write = std::function<void(std::string_view)>;
  using Clock = std::function<double()>;  ///< seconds

  /// `columns`: of the terminal; 0 where there is none.
  TuneProgress(int columns, Write write, Clock clock);
  /// On standard error.
  TuneProgress();
  ~TuneProgress() { end(); }
  TuneProgress(const TuneProgress&) = delete;
  TuneProgress& operator=(const TuneProgress&) = delete;

  void show(const SweepProgress& progress);

  /// Leaves the terminal with an empty line.
  void end();

 private:
  int columns_;
  Write write_;
  Clock clock_;
  std::string phase_;
  double shown_ = 0;
  bool on_line_ = false;
};

}  // namespace vnjit::cli
