#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "output.hpp"

namespace es_digits {
namespace {

constexpr std::int64_t kMostGenerations = 1'000'000;
constexpr std::int64_t kMostIndividuals = 65536;
constexpr float kMostScale = 10;

/// Options as the user typed them: CLI11's own numbers clamp and take other bases.
struct Texts {
  std::string generations, population, batch, sigma, rate, noise, activation, seed;

  explicit Texts(const Settings& defaults)
      : generations(fmt::to_string(defaults.generations)),
        population(fmt::to_string(defaults.population)),
        batch(fmt::to_string(defaults.batch)),
        sigma(fmt::to_string(defaults.sigma)),
        rate(fmt::to_string(defaults.rate)),
        noise(vnjit::to_string(defaults.noise)),
        activation(to_string(defaults.activation)),
        seed(fmt::to_string(defaults.seed)) {}
};

[[noreturn]] void refuse(std::string_view flag, std::string_view value, std::string_view allowed) {
  throw vnjit::InvalidArgument(fmt::format("{}: '{}' is not {}", flag, value, allowed));
}

/// All of `text` as a decimal number.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return number;
}

std::int64_t parse_within(std::string_view flag, std::string_view text, std::int64_t least,
                          std::int64_t most) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < least || *number > most) {
    refuse(flag, text, fmt::format("a whole decimal number from {} to {}", least, most));
  }
  return *number;
}

std::int64_t parse_population(std::string_view text) {
  const std::int64_t population = parse_within("--population", text, 2, kMostIndividuals);
  if (population % 2 != 0) refuse("--population", text, "even; individuals come in pairs");
  return population;
}

float parse_scale(std::string_view flag, std::string_view text) {
  const auto number = parse_number<float>(text);
  if (!number || !(*number > 0 && *number <= kMostScale)) {
    refuse(flag, text, fmt::format("a decimal number above 0 and at most {}", kMostScale));
  }
  return *number;
}

std::int64_t parse_seed(std::string_view text) {
  const auto seed = parse_number<std::int64_t>(text);
  if (!seed) refuse("--seed", text, "a whole decimal number of 64 bits, -2^63 to 2^63 - 1");
  return *seed;
}

Activation parse_activation(std::string_view text) {
  for (const Activation activation : {Activation::gelu, Activation::relu}) {
    if (text == to_string(activation)) return activation;
  }
  refuse("--activation", text, "an activation; use gelu or relu");
}

/// What `parse` returns; its complaint then begins with the flag.
auto naming(std::string_view flag, auto parse) {
  try {
    return parse();
  } catch (const vnjit::InvalidArgument& error) {
    throw vnjit::InvalidArgument(fmt::format("{}: {}", flag, error.what()));
  }
}

Settings parse_settings(const Texts& texts, std::int64_t training_images) {
  Settings settings;
  settings.generations = parse_within("--generations", texts.generations, 1, kMostGenerations);
  settings.population = parse_population(texts.population);
  settings.batch = parse_within("--batch", texts.batch, 1, training_images);
  settings.sigma = parse_scale("--sigma", texts.sigma);
  settings.rate = parse_scale("--rate", texts.rate);
  settings.noise = naming("--noise", [&] { return vnjit::parse_noise_spec(texts.noise); });
  settings.noise.antithetic = true;
  settings.activation = parse_activation(texts.activation);
  settings.seed = parse_seed(texts.seed);
  return settings;
}

void add_options(CLI::App& app, Options& options, Texts& texts) {
  app.option_defaults()->always_capture_default();
  const auto add = [&](const char* flag, std::string& text, const char* type, const char* help) {
    app.add_option(flag, text, help)->type_name(type);
  };
  add("--device", options.device, "DEVICE", "auto, cpu or the number of a GPU");
  add("--generations", texts.generations, "N", "steps of the training");
  add("--population", texts.population, "N", "individuals a generation; even");
  add("--sigma", texts.sigma, "X", "scale of the noise");
  add("--rate", texts.rate, "X", "learning rate of Adam at the start; falls to 0");
  add("--batch", texts.batch, "N", "images a generation");
  add("--noise", texts.noise, "NOISE", "GENERATOR[:DISTRIBUTION[:ROUNDS]]");
  add("--activation", texts.activation, "NAME", "gelu or relu");
  add("--seed", texts.seed, "N", "of parameters, batches and noise");
  add("--arch", options.arch, "ARCH", "compile for this architecture where no GPU runs");
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, std::int64_t training_images) {
  Options options;
  Texts texts(options.settings);
  CLI::App app("Trains a 64-128-10 classifier of handwritten digits by evolution strategies.");
  app.footer("Example: es_digits --generations 500 --population 512 --activation relu");
  add_options(app, options, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw vnjit::InvalidArgument(error.what());
  }
  options.settings = parse_settings(texts, training_images);
  // Refuses an architecture it does not know.
  naming("--arch", [&] { return vnjit::DeviceLimits::preset(options.arch); });
  return options;
}

std::shared_ptr<vnjit::Device> open_device(vnjit::Runtime& runtime, const std::string& name) {
  if (name == "auto") return runtime.best_device();
  if (name == "cpu") return runtime.cpu();
  const auto ordinal = parse_number<int>(name);
  if (!ordinal || *ordinal < 0) {
    refuse("--device", name, "a device; use auto, cpu or the number of a GPU");
  }
  return runtime.gpu(*ordinal);
}

}  // namespace es_digits
