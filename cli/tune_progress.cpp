#include "tune_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "files.hpp"

namespace vnjit::cli {
namespace {

constexpr double kEvery = 5;           // seconds between lines
constexpr double kEveryRewrite = 0.1;  // seconds between rewritings
constexpr int kColumns = 80;           // of a terminal that does not say

int terminal_columns() {
  if (::isatty(STDERR_FILENO) == 0) return 0;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumns;
  return size.ws_col;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string progress_line(const SweepProgress& progress) {
  std::string line = fmt::format("{} {}/{}", progress.phase, progress.done, progress.all);
  if (progress.best_seconds > 0) {
    line += fmt::format(", best {:.4g} us ({})", progress.best_seconds * 1e6, progress.best);
  }
  if (progress.best_seconds > 0 && progress.default_seconds > 0) {
    line +=
        fmt::format(", {:.3f} of the default", progress.best_seconds / progress.default_seconds);
  }
  if (progress.seconds_left > 0) line += fmt::format(", {:.0f} s left", progress.seconds_left);
  return line;
}

TuneProgress::TuneProgress(int columns, Write write, Clock clock)
    : columns_(columns), write_(std::move(write)), clock_(std::move(clock)) {}

TuneProgress::TuneProgress()
    : TuneProgress(
          terminal_columns(),
          [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); },
          steady_seconds) {}

void TuneProgress::show(const SweepProgress& progress) {
  const double now = clock_();
  const bool other = phase_ != progress.phase;
  if (!other && now - shown_ < (columns_ > 0 ? kEveryRewrite : kEvery)) return;
  phase_ = progress.phase;
  shown_ = now;
  std::string line = progress_line(progress);
  if (columns_ == 0) {
    write_(line + '\n');
    return;
  }
  // The last column stays free: a character there would move to the next line.
  line.resize(std::min(line.size(), static_cast<std::size_t>(columns_ - 1)));
  write_("\r\x1b[K" + line);
  on_line_ = true;
}

void TuneProgress::end() {
  if (on_line_) write_("\r\x1b[K");
  on_line_ = false;
}

}  // namespace vnjit::cli
