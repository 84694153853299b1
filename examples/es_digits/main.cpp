// Trains a small classifier by evolution strategies with kernels that vnjit generates.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "kernels.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace es_digits {
namespace {

std::string describe_device(vnjit::Runtime& runtime, const vnjit::Device& device) {
  if (device.is_gpu()) return fmt::format("GPU {}, {}", device.ordinal(), device.name());
  return runtime.gpu_count() > 0 ? "CPU backend, as asked"
                                 : "CPU backend; no GPU was found (`vnjit devices` says why)";
}

std::string describe_training(const Settings& settings, const Network& network,
                              const DigitsSplit& data) {
  return fmt::format(
      "64-128-10 {} network, {} parameters; {} images for training, {} for the test\n"
      "population {}, sigma {}, Adam rate {}, {} images a generation, noise {}, seed {}\n",
      to_string(settings.activation), network.parameter_count, data.train.count(),
      data.test.count(), settings.population, settings.sigma, settings.rate, settings.batch,
      vnjit::to_string(settings.noise), settings.seed);
}

void run(const Options& options, const DigitsSplit& data) {
  const Settings& settings = options.settings;
  vnjit::Runtime runtime;
  const std::shared_ptr<vnjit::Device> device = open_device(runtime, options.device);
  const Network network = make_network();
  print(fmt::format("device: {}\n{}", describe_device(runtime, *device),
                    describe_training(settings, network, data)));

  const Problems problems =
      make_problems(network, settings.noise, settings.population, settings.batch);
  const Plans plans = make_plans(runtime, device, problems);
  const std::string kernels = describe_kernels(runtime, *device, problems, options.arch);

  ProgressLine progress(settings.generations);
  const std::vector<float> parameters = train(settings, network, plans, device, data.train,
                                              [&](const Progress& now) { progress.show(now); });
  const Score test = evaluate(settings, network, plans, device, data.test, parameters);

  print(fmt::format("{}test accuracy: {:.3f}\n", kernels, test.accuracy));
}

int complain(std::string_view message, int status) {
  std::fprintf(stderr, "es_digits: %s\n", one_line(message).c_str());
  return status;
}

int run_command(int argc, char** argv) {
  constexpr int kFailed = 1;
  constexpr int kMisused = 2;
  try {
    require_output();
    const DigitsSplit data = load_digits();
    const std::optional<Options> options = parse_options(argc, argv, data.train.count());
    if (options) run(*options, data);
    return 0;
  } catch (const vnjit::InvalidArgument& error) {
    return complain(error.what(), kMisused);
  } catch (const OutputError& error) {
    return complain(error.what(), kMisused);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; use a smaller --population or --batch", kFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  }
}

}  // namespace
}  // namespace es_digits

int main(int argc, char** argv) { return es_digits::run_command(argc, argv); }
