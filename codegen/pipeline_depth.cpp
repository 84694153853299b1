#include "vnjit/codegen/pipeline_depth.hpp"

#include <algorithm>

namespace vnjit {

int choose_num_stages(std::int64_t budget_bytes, std::int64_t per_stage_bytes, int max_stages) {
  if (per_stage_bytes <= 0) return max_stages;
  const std::int64_t fitting = std::max<std::int64_t>(1, budget_bytes / per_stage_bytes);
  return static_cast<int>(std::min<std::int64_t>(max_stages, fitting));
}

}  // namespace vnjit
