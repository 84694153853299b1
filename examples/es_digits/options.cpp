#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

namespace es_digits {
namespace {

[[noreturn]] void refuse(std::string_view flag, const auto& value, std::string_view allowed) {
  throw vnjit::InvalidArgument(fmt::format("{} {}: must be {}", flag, value, allowed));
}

void require_within(std::string_view flag, std::int64_t value, std::int64_t least,
                    std::int64_t most) {
  if (value < least || value > most) refuse(flag, value, fmt::format("{} to {}", least, most));
}

void require_positive(std::string_view flag, float value) {
  constexpr float kMost = 10;
  if (!(value > 0 && value <= kMost)) refuse(flag, value, "above 0 and at most 10");
}

Activation parse_activation(const std::string& text) {
  for (const Activation activation : {Activation::gelu, Activation::relu}) {
    if (text == to_string(activation)) return activation;
  }
  refuse("--activation", text, "gelu or relu");
}

void validate(const Settings& settings, std::int64_t training_images) {
  require_within("--generations", settings.generations, 1, 1'000'000);
  require_within("--population", settings.population, 2, 65536);
  if (settings.population % 2 != 0) {
    refuse("--population", settings.population, "even: individuals come in pairs");
  }
  require_within("--batch", settings.batch, 1, training_images);
  require_positive("--sigma", settings.sigma);
  require_positive("--rate", settings.rate);
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, std::int64_t training_images) {
  Options options;
  Settings& settings = options.settings;
  std::string noise = vnjit::to_string(settings.noise);
  std::string activation(to_string(settings.activation));

  CLI::App app("Trains a 64-128-10 classifier of handwritten digits by evolution strategies.");
  app.footer("Example: es_digits --generations 500 --population 512 --activation relu");
  app.option_defaults()->always_capture_default();
  app.add_option("--device", options.device, "auto, cpu or the number of a GPU");
  app.add_option("--generations", settings.generations, "steps of the training");
  app.add_option("--population", settings.population, "individuals a generation; even");
  app.add_option("--sigma", settings.sigma, "scale of the noise");
  app.add_option("--rate", settings.rate, "learning rate of Adam at the start; falls to 0");
  app.add_option("--batch", settings.batch, "images a generation");
  app.add_option("--noise", noise, "GENERATOR[:DISTRIBUTION[:ROUNDS]]");
  app.add_option("--activation", activation, "gelu or relu");
  app.add_option("--seed", settings.seed, "of parameters, batches and noise");
  app.add_option("--arch", options.arch, "compile for this architecture where no GPU runs");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw vnjit::InvalidArgument(error.what());
  }

  settings.noise = vnjit::parse_noise_spec(noise);
  settings.noise.antithetic = true;
  settings.activation = parse_activation(activation);
  validate(settings, training_images);
  vnjit::DeviceLimits::preset(options.arch);  // refuses an architecture it does not know
  return options;
}

std::shared_ptr<vnjit::Device> open_device(vnjit::Runtime& runtime, const std::string& name) {
  if (name == "auto") return runtime.best_device();
  if (name == "cpu") return runtime.cpu();
  int ordinal = -1;
  const char* const end = name.data() + name.size();
  const auto [parsed, error] = std::from_chars(name.data(), end, ordinal);
  if (error != std::errc() || parsed != end || ordinal < 0) {
    refuse("--device", name, "auto, cpu or the number of a GPU");
  }
  return runtime.gpu(ordinal);
}

}  // namespace es_digits
