#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "output.hpp"

namespace es_digits {

ProgressLine::ProgressLine(std::int64_t generations)
    : generations_(generations), terminal_(isatty(STDOUT_FILENO) == 1) {}

void ProgressLine::show(const Progress& progress) {
  const bool last = progress.generation == generations_;
  if (!terminal_ && !last && progress.generation % 10 != 0) return;
  const std::string line = fmt::format(
      "generation {:>{}}/{}  loss {:.4f}  accuracy {:.3f}  {:.1f} million noise values/s",
      progress.generation, fmt::formatted_size("{}", generations_), generations_,
      progress.score.loss, progress.score.accuracy, progress.noise_values_per_second / 1e6);
  // Spaces wipe what a longer line left behind.
  print(fmt::format("{}{:<{}}{}", terminal_ ? "\r" : "", line, terminal_ ? 79 : 0,
                    !terminal_ || last ? "\n" : ""));
}

}  // namespace es_digits
