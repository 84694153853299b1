#include "vnjit/runtime/cpu/noise.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"

namespace vnjit::cli {
namespace {

constexpr std::int64_t kValuesAtOnce = 1 << 16;

struct NoiseFlags {
  std::string noise = to_string(NoiseSpec{});
  std::string seed = "0";
  std::string offset = "0";
  std::string count = "16";
  bool bits = false;
};

std::string lines(const std::vector<float>& values, std::int64_t count, bool bits) {
  fmt::memory_buffer text;
  for (std::int64_t n = 0; n < count; ++n) {
    const float value = values[static_cast<std::size_t>(n)];
    if (bits) {
      fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:08x}\n"),
                     std::bit_cast<std::uint32_t>(value));
    } else {
      fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}\n"), value);
    }
  }
  return fmt::to_string(text);
}

int print_noise(const NoiseFlags& flags) {
  const NoiseSpec noise = parse_with("--noise", flags.noise, parse_noise_spec);
  const std::int64_t seed = parse_integer("--seed", flags.seed);
  const std::int64_t offset = parse_count("--offset", flags.offset, "an element");
  const std::int64_t count = parse_count("--count", flags.count, "a count");
  // The last element, offset + count - 1, may be 2^63 - 1.
  if (count > 0 && count - 1 > std::numeric_limits<std::int64_t>::max() - offset) {
    throw InvalidArgument(
        fmt::format("--offset {} and --count {} reach beyond element 2^63 - 1", offset, count));
  }
  std::vector<float> values(static_cast<std::size_t>(std::min(count, kValuesAtOnce)));
  for (std::int64_t done = 0, part = 0; done < count; done += part) {
    part = std::min(count - done, kValuesAtOnce);
    fill_noise(noise, seed, static_cast<std::uint64_t>(offset + done), part, values.data());
    write_output(lines(values, part, flags.bits));
  }
  return kOk;
}

}  // namespace

Command add_noise(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "noise", "Print noise values, one a line: element e of the noise of one seed");
  const auto flags = std::make_shared<NoiseFlags>();
  command->add_option("--noise", flags->noise, std::string(kNoiseHelp))
      ->type_name("NOISE")
      ->capture_default_str();
  command->add_option("--seed", flags->seed, "seed of the individual, any 64-bit integer")
      ->type_name("S")
      ->capture_default_str();
  command->add_option("--offset", flags->offset, "first element, 0 to 2^63 - 1")
      ->type_name("E")
      ->capture_default_str();
  command->add_option("--count", flags->count, "how many elements")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--bits", flags->bits, "print fp32 bit patterns, 8 hexadecimal digits each")
      ->disable_flag_override();
  command->footer(
      "Example:\n"
      "  vnjit noise --noise philox:uniform:10 --seed 7 --offset 200704 --count 4 --bits");
  return {command, [flags] { return print_noise(*flags); }};
}

}  // namespace vnjit::cli
