#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace es_digits {

/// Calls work(begin, end) for equal parts of [0, count), one part a core, and returns when all are
/// done. `work` must not throw.
template <typename Work>
void for_each_part(std::size_t count, const Work& work) {
  const std::size_t parts = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  const auto start = [&](std::size_t part) { return count * part / parts; };
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; ++part) {
    threads.emplace_back([&work, begin = start(part), end = start(part + 1)] { work(begin, end); });
  }
  work(start(0), start(1));
}

}  // namespace es_digits
