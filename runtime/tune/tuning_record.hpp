#pragma once

#include <string>
#include <string_view>

#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/codegen/problem.hpp"

namespace vnjit {

/// Version of the JSON below and of what its times mean.
inline constexpr int kRecordVersion = 1;

/// What a sweep found best for one problem, its sizes included, on one kind of device.
struct TuningRecord {
  Problem problem{};
  DeviceLimits limits{};       ///< of the device that measured
  Config config{};             ///< the fastest
  double seconds = 0;          ///< its device time a run
  Config default_config{};     ///< what the library chooses without a record
  double default_seconds = 0;  ///< its device time a run, from the same rounds
  int measured = 0;            ///< candidates that were timed
  int contract_version = 0;    ///< of the noise

  friend bool operator==(const TuningRecord&, const TuningRecord&) = default;
};

/// A document of one object, ended by a line break.
std::string to_json(const TuningRecord& record);

/// Inverse of to_json. Throws InvalidArgument saying what is wrong: no JSON, another version, a
/// missing or unknown field, a config that the problem or the limits do not allow, a time that is
/// not a positive number.
TuningRecord tuning_record_from_json(std::string_view text);

/// Whether a record of a device with limits `measured` may be used on one with `limits`: the same
/// architecture, number of multiprocessors and shared memory.
bool is_same_kind(const DeviceLimits& measured, const DeviceLimits& limits);

}  // namespace vnjit
