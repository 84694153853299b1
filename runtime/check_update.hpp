#pragma once

#include <cstddef>

#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

// What a gradient's update asks of a run. Throws InvalidArgument naming the argument, its value and
// what is allowed. What an update has no use for is not looked at in a step, and refused in a
// block.

void check_step(Update update, const UpdateStep& step);

/// Block `index`: its buffers are there. An output may be left out where
/// there is an update.
void check_update(Update update, const GradientBlock& block, std::size_t index);

}  // namespace vnjit
