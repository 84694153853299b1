#include <fmt/format.h>

#include "vnjit/runtime/tune/device_json.hpp"
#include "vnjit/runtime/tune/json_fields.hpp"
#include "vnjit/runtime/tune/statistics.hpp"
#include "vnjit/runtime/tune/sweep.hpp"

namespace vnjit {
namespace {

constexpr int kSweepVersion = 1;

Json to_object(const Candidate& c) {
  return {{"config", to_string(c.config)},
          {"outcome", to_string(c.outcome)},
          {"reason", c.reason},
          {"predicted_seconds", c.predicted_seconds},
          {"seconds", c.seconds},
          {"rounds", c.rounds},
          {"error", c.error},
          {"registers", c.usage.registers},
          {"stack_bytes", c.usage.stack_bytes},
          {"spill_store_bytes", c.usage.spill_store_bytes},
          {"spill_load_bytes", c.usage.spill_load_bytes},
          {"static_shared_bytes", c.usage.static_shared_bytes},
          {"barriers", c.usage.barriers},
          {"shared_bytes", c.shared_bytes},
          {"blocks_per_sm", c.blocks_per_sm},
          {"occupancy", c.occupancy}};
}

Outcome parse_outcome(std::string_view text) {
  for (const Outcome outcome :
       {Outcome::pruned, Outcome::compiled, Outcome::failed, Outcome::dropped, Outcome::measured}) {
    if (text == to_string(outcome)) return outcome;
  }
  throw InvalidArgument(fmt::format("'{}' is not an outcome", text));
}

std::vector<double> numbers(JsonFields& fields, const char* name) {
  const Json& array = fields.at(name);
  if (!array.is_array()) throw InvalidArgument(fields.label(name) + " is no array");
  std::vector<double> values;
  for (const Json& value : array) {
    if (!value.is_number()) throw InvalidArgument(fields.label(name) + " holds no numbers");
    values.push_back(value.get<double>());
  }
  return values;
}

Candidate candidate_from(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  Candidate c;
  c.config = fields.parsed("config", parse_config);
  c.outcome = fields.parsed("outcome", parse_outcome);
  c.reason = fields.text("reason");
  c.predicted_seconds = fields.number("predicted_seconds");
  c.seconds = fields.number("seconds");
  c.rounds = numbers(fields, "rounds");
  c.error = fields.number("error");
  c.usage.registers = fields.small_integer("registers");
  c.usage.stack_bytes = fields.small_integer("stack_bytes");
  c.usage.spill_store_bytes = fields.small_integer("spill_store_bytes");
  c.usage.spill_load_bytes = fields.small_integer("spill_load_bytes");
  c.usage.static_shared_bytes = fields.small_integer("static_shared_bytes");
  c.usage.barriers = fields.small_integer("barriers");
  c.shared_bytes = fields.integer("shared_bytes");
  c.blocks_per_sm = fields.small_integer("blocks_per_sm");
  c.occupancy = fields.number("occupancy");
  fields.expect_no_others();
  return c;
}

}  // namespace

double rank_correlation(const SweepResult& result) {
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const Candidate& candidate : result.candidates) {
    if (candidate.seconds <= 0) continue;
    predicted.push_back(candidate.predicted_seconds);
    measured.push_back(candidate.seconds);
  }
  return rank_correlation(predicted, measured);
}

std::string to_json(const SweepResult& result) {
  Json json = {{"sweep_version", kSweepVersion},
               {"problem", problem_to_json(result.problem)},
               {"device", limits_to_json(result.limits)},
               {"default_config", to_string(result.default_config)},
               {"winner", result.winner ? Json(*result.winner) : Json(nullptr)},
               {"noise", result.noise},
               {"seconds", result.seconds},
               {"interrupted", result.interrupted},
               {"out_of_budget", result.out_of_budget},
               {"roofline_seconds", result.roofline_seconds},
               {"roofline", result.roofline},
               {"rank_correlation", rank_correlation(result)},
               {"candidates", Json::array()}};
  for (const Candidate& candidate : result.candidates) {
    json["candidates"].push_back(to_object(candidate));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

SweepResult sweep_result_from_json(std::string_view text) {
  const Json json = parse_json(text, "a sweep");
  JsonFields fields(json, "");
  if (const int version = fields.small_integer("sweep_version"); version != kSweepVersion) {
    throw InvalidArgument(
        fmt::format("sweep_version is {}; this library knows {}", version, kSweepVersion));
  }
  SweepResult result;
  result.problem = problem_from_json(fields.at("problem"), "problem");
  result.limits = limits_from_json(fields.at("device"), "device");
  result.default_config = fields.parsed("default_config", parse_config);
  result.noise = fields.number("noise");
  result.seconds = fields.number("seconds");
  result.interrupted = fields.boolean("interrupted");
  result.out_of_budget = fields.boolean("out_of_budget");
  result.roofline_seconds = fields.number("roofline_seconds");
  result.roofline = fields.text("roofline");
  fields.number("rank_correlation");
  const Json& candidates = fields.at("candidates");
  if (!candidates.is_array()) throw InvalidArgument("candidates is no array");
  for (std::size_t n = 0; n < candidates.size(); ++n) {
    result.candidates.push_back(candidate_from(candidates[n], fmt::format("candidates[{}]", n)));
  }
  if (!fields.at("winner").is_null()) {
    const int winner = fields.small_integer("winner");
    if (static_cast<std::size_t>(winner) >= result.candidates.size()) {
      throw InvalidArgument(
          fmt::format("winner is {}; there are {} candidates", winner, result.candidates.size()));
    }
    result.winner = static_cast<std::size_t>(winner);
  }
  fields.expect_no_others();
  return result;
}

}  // namespace vnjit
