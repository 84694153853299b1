#include "vnjit/runtime/tune/tuning_record.hpp"

#include <fmt/format.h>

#include "vnjit/runtime/tune/device_json.hpp"
#include "vnjit/runtime/tune/json_fields.hpp"

namespace vnjit {
namespace {

double positive(JsonFields& fields, const char* name) {
  const double value = fields.number(name);
  if (value > 0) return value;
  throw InvalidArgument(fmt::format("{} is {}; it must be above 0", fields.label(name), value));
}

}  // namespace

Json limits_to_json(const DeviceLimits& limits) {
  return {{"name", limits.name},
          {"compute_major", limits.compute_major},
          {"compute_minor", limits.compute_minor},
          {"sm_count", limits.sm_count},
          {"clock_mhz", limits.clock_mhz},
          {"shared_per_block", limits.shared_per_block},
          {"shared_per_block_optin", limits.shared_per_block_optin},
          {"shared_per_sm", limits.shared_per_sm},
          {"shared_reserved_per_block", limits.shared_reserved_per_block},
          {"registers_per_sm", limits.registers_per_sm},
          {"registers_per_thread", limits.registers_per_thread},
          {"max_warps_per_sm", limits.max_warps_per_sm},
          {"max_blocks_per_sm", limits.max_blocks_per_sm},
          {"max_threads_per_block", limits.max_threads_per_block},
          {"max_grid_x", limits.max_grid_x}};
}

DeviceLimits limits_from_json(const Json& json, std::string_view where) {
  JsonFields fields(json, where);
  DeviceLimits limits;
  limits.name = fields.text("name");
  limits.compute_major = fields.small_integer("compute_major");
  limits.compute_minor = fields.small_integer("compute_minor");
  limits.sm_count = fields.small_integer("sm_count");
  limits.clock_mhz = fields.small_integer("clock_mhz");
  limits.shared_per_block = fields.small_integer("shared_per_block");
  limits.shared_per_block_optin = fields.small_integer("shared_per_block_optin");
  limits.shared_per_sm = fields.small_integer("shared_per_sm");
  limits.shared_reserved_per_block = fields.small_integer("shared_reserved_per_block");
  limits.registers_per_sm = fields.small_integer("registers_per_sm");
  limits.registers_per_thread = fields.small_integer("registers_per_thread");
  limits.max_warps_per_sm = fields.small_integer("max_warps_per_sm");
  limits.max_blocks_per_sm = fields.small_integer("max_blocks_per_sm");
  limits.max_threads_per_block = fields.small_integer("max_threads_per_block");
  limits.max_grid_x = fields.small_integer("max_grid_x");
  fields.expect_no_others();
  return limits;
}

std::string to_json(const TuningRecord& record) {
  const Json json = {{"record_version", kRecordVersion},
                     {"contract_version", record.contract_version},
                     {"problem", problem_to_json(record.problem)},
                     {"device", limits_to_json(record.limits)},
                     {"config", to_string(record.config)},
                     {"seconds", record.seconds},
                     {"default_config", to_string(record.default_config)},
                     {"default_seconds", record.default_seconds},
                     {"measured", record.measured}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

TuningRecord tuning_record_from_json(std::string_view text) {
  const Json json = parse_json(text, "a tuning record");
  JsonFields fields(json, "");
  if (const int version = fields.small_integer("record_version"); version != kRecordVersion) {
    throw InvalidArgument(
        fmt::format("record_version is {}; this library knows {}", version, kRecordVersion));
  }
  TuningRecord record;
  record.contract_version = fields.small_integer("contract_version");
  record.problem = problem_from_json(fields.at("problem"), "problem");
  record.limits = limits_from_json(fields.at("device"), "device");
  const auto parse = [&](std::string_view config_text) {
    const Config config = parse_config(config_text);
    validate(config, record.problem, record.limits);
    return config;
  };
  record.config = fields.parsed("config", parse);
  record.seconds = positive(fields, "seconds");
  record.default_config = fields.parsed("default_config", parse);
  record.default_seconds = positive(fields, "default_seconds");
  record.measured = fields.small_integer("measured");
  fields.expect_no_others();
  return record;
}

bool is_same_kind(const DeviceLimits& measured, const DeviceLimits& limits) {
  return measured.compute_major == limits.compute_major &&
         measured.compute_minor == limits.compute_minor && measured.sm_count == limits.sm_count &&
         measured.shared_per_block == limits.shared_per_block &&
         measured.shared_per_block_optin == limits.shared_per_block_optin &&
         measured.shared_per_sm == limits.shared_per_sm;
}

}  // namespace vnjit
