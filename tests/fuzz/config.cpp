#include "vnjit/codegen/config.hpp"

#include "fuzz_target.hpp"
#include "vnjit/codegen/access.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/noise_spec.hpp"

// The texts that flags and records hold: what parses prints as what parses to the same, and
// validates or is refused in words.

namespace vnjit {
namespace {

template <typename Parse, typename Print>
auto round_trip(std::string_view text, Parse parse, Print print) {
  const auto value = parse(text);
  fuzz::require(parse(print(value)) == value);
  return value;
}

template <typename Action>
void allow_refusal(Action action) {
  try {
    action();
  } catch (const Error& refusal) {
    fuzz::require(*refusal.what() != '\0');
  }
}

}  // namespace
}  // namespace vnjit

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vnjit;
  const std::string_view text = fuzz::text_of(data, size);
  allow_refusal([&] {
    const Config config =
        round_trip(text, parse_config, [](const Config& value) { return to_string(value); });
    for (const char* arch : {"sm_75", "sm_90"}) {
      const DeviceLimits limits = DeviceLimits::preset(arch);
      for (const Problem& problem :
           {Problem(PerturbedLinear{}), Problem(Gradient{}), Problem(ReduceMetric{}),
            Problem(PerturbedLinear{.input = DataType::f16})}) {
        allow_refusal([&] { validate(config, problem, limits); });
      }
    }
  });
  allow_refusal([&] {
    round_trip(text, parse_noise_spec, [](const NoiseSpec& value) { return to_string(value); });
  });
  allow_refusal([&] {
    round_trip(text, parse_access, [](const Access& value) { return to_string(value); });
  });
  allow_refusal([&] { static_cast<void>(parse_data_type(text)); });
  allow_refusal([&] { static_cast<void>(parse_precision(text)); });
  return 0;
}
