#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace vnjit {

/// What a worker process of a sweep does: answers each JSON line of `in` with one in `out`, until
/// `in` ends. The lines are those of WorkerRunner.
void serve_tuning(std::istream& in, std::ostream& out);

}  // namespace vnjit
