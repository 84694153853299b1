#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "noise_bits.hpp"
#include "vnjit/vnjit.hpp"

// Noise as raw random bits on standard output, for the batteries that bench/noise_quality.py runs.

namespace vnjit {
namespace {

constexpr std::uint64_t kValuesAtOnce = 1 << 16;

/// Writes the values of the elements from `element` on.
using Fill = std::function<void(std::uint64_t seed, std::uint64_t element, std::span<float>)>;

struct Source {
  Fill fill;
  Distribution distribution;
};

/// Which (seed, element) follow one another: runs of `block` elements, of one seed throughout or of
/// a seed a run.
struct Order {
  bool across_seeds = false;
  std::uint64_t block = kValuesAtOnce;
};

/// A generator known to be bad, so that one can see a battery refuse it: the high byte of one step
/// of a linear congruence from seed + element.
void fill_lcg(std::uint64_t seed, std::uint64_t element, std::span<float> values) {
  for (float& value : values) {
    const auto state = static_cast<std::uint32_t>(seed + element++);
    const std::uint32_t byte = (1664525u * state + 1013904223u) >> 24;
    value = (static_cast<float>(byte) - 127.5f) * 0x1p-8f;
  }
}

Source source_of(const std::string& name) {
  if (name == "lcg") return {fill_lcg, Distribution::uniform8};
  const NoiseSpec noise = parse_noise_spec(name);
  return {[noise](std::uint64_t seed, std::uint64_t element, std::span<float> values) {
            fill_noise(noise, static_cast<std::int64_t>(seed), element,
                       static_cast<std::int64_t>(values.size()), values.data());
          },
          noise.distribution};
}

template <typename Integer>
Integer parse_number(std::string_view flag, std::string_view text, Integer least, Integer most) {
  Integer number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most) {
    throw InvalidArgument(
        fmt::format("{}: '{}' is not a whole number of {} to {}", flag, text, least, most));
  }
  return number;
}

Order parse_order(std::string_view text) {
  constexpr std::string_view kSeeds = "seeds";
  if (text == "elements") return {};
  if (text == kSeeds) return {true, 1};
  if (!text.starts_with("seeds:")) {
    throw InvalidArgument(
        fmt::format("--order: '{}' is unknown; use elements, seeds or seeds:ELEMENTS", text));
  }
  text.remove_prefix(kSeeds.size() + 1);
  return {true, parse_number<std::uint64_t>("--order seeds", text, 1, kValuesAtOnce)};
}

/// False when the reader has gone: it has what it wanted.
bool write_output(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "cannot write standard output");
    }
  }
  return true;
}

void write_stream(const Source& source, const Order& order, std::uint64_t seed,
                  std::uint64_t element, std::uint64_t bytes_left) {
  NoiseBits bits(source.distribution);
  std::vector<float> values(order.block);
  std::vector<std::uint8_t> bytes;
  while (bytes_left > 0) {
    bytes.clear();
    for (std::uint64_t made = 0; made < kValuesAtOnce; made += order.block) {
      source.fill(seed, element, values);
      bits.append(values, bytes);
      if (order.across_seeds) {
        ++seed;
      } else {
        element += order.block;
      }
    }
    const std::size_t count = std::min<std::uint64_t>(bytes.size(), bytes_left);
    if (!write_output({bytes.data(), count})) return;
    bytes_left -= count;
  }
}

int run(int argc, char** argv) {
  CLI::App app(
      "Writes noise to standard output as raw random bits, for a battery of tests to read.\n"
      "bench/noise_quality.py runs batteries on it; docs/noise_quality.md says what the bits of a\n"
      "value are.",
      "noise_quality");
  std::string noise = to_string(NoiseSpec{});
  std::string order = "elements";
  std::string seed = "1";
  std::string offset = "0";
  std::string bytes;
  app.add_option("--noise", noise,
                 "GENERATOR[:DISTRIBUTION[:ROUNDS]] as in `vnjit noise`, or lcg, which is bad on\n"
                 "purpose")
      ->type_name("NOISE")
      ->capture_default_str();
  app.add_option("--order", order,
                 "elements: one seed, element after element; seeds: seed after seed, of each the\n"
                 "element --offset; seeds:N: of each N elements")
      ->type_name("ORDER")
      ->capture_default_str();
  app.add_option("--seed", seed, "the first seed, any 64-bit integer")
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--offset", offset, "the first element")->type_name("E")->capture_default_str();
  app.add_option("--bytes", bytes, "how many bytes; else until the reader closes the pipe")
      ->type_name("N");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(error.what());
  }
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const auto first_seed =
      parse_number("--seed", seed, std::numeric_limits<std::int64_t>::min(), kMost);
  const auto element = parse_number<std::int64_t>("--offset", offset, 0, kMost);
  const auto length =
      bytes.empty() ? kMost : parse_number<std::int64_t>("--bytes", bytes, 0, kMost);
  write_stream(source_of(noise), parse_order(order), static_cast<std::uint64_t>(first_seed),
               static_cast<std::uint64_t>(element), static_cast<std::uint64_t>(length));
  return 0;
}

}  // namespace
}  // namespace vnjit

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return vnjit::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "noise_quality: %s\n", error.what());
    return 2;
  }
}
