#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vnjit/runtime/tune/sweep.hpp"

namespace vnjit::cli {

/// Sweeps as a JSON document, {"sweeps": […]}, and back from it or from that of a single sweep.
/// The latter throws InvalidArgument saying what is wrong.
std::string sweeps_to_json(const std::vector<SweepResult>& sweeps);
std::vector<SweepResult> sweeps_from_json(std::string_view text);

/// Sweeps as one self-contained page: winner, default and roofline, tiles and depths against time,
/// predicted against measured times, and every candidate with what became of it.
std::string report_page(const std::vector<SweepResult>& sweeps);

}  // namespace vnjit::cli
