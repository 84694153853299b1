#pragma once

#include <cstdint>

namespace vnjit {

/// The seed module's rule to the letter: min(max_stages, max(1, budget / per_stage_bytes)), and
/// max_stages where per_stage_bytes <= 0. Answers 1 even when nothing fits: Config::validate
/// refuses that.
int choose_num_stages(std::int64_t budget_bytes, std::int64_t per_stage_bytes, int max_stages = 4);

}  // namespace vnjit
