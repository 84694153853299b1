#include "fuzz_target.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/tune/problem_json.hpp"
#include "vnjit/runtime/tune/sweep.hpp"
#include "vnjit/runtime/tune/tuning_record.hpp"

// The JSON of problems, tuning records and sweeps: any text is one that prints as what reads the
// same, or is refused in words.

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vnjit;
  const std::string_view text = fuzz::text_of(data, size);
  const auto allow_refusal = [](auto read) {
    try {
      read();
    } catch (const Error& refusal) {
      fuzz::require(*refusal.what() != '\0');
    }
  };
  allow_refusal([&] {
    const Problem problem = problem_from_json(text);
    fuzz::require(problem_from_json(to_json(problem)) == problem);
  });
  allow_refusal([&] {
    const TuningRecord record = tuning_record_from_json(text);
    fuzz::require(tuning_record_from_json(to_json(record)) == record);
  });
  allow_refusal([&] {
    const std::string json = to_json(sweep_result_from_json(text));
    fuzz::require(to_json(sweep_result_from_json(json)) == json);
  });
  return 0;
}
