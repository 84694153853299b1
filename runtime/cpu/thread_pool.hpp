#pragma once

#include <cstdint>
#include <functional>

namespace vnjit::cpu {

/// A few threads that share loops. Started at the first loop, joined by the destructor. A loop
/// started in a child after fork() runs on the calling thread alone.
class ThreadPool;

}  // namespace vnjit::cpu
