#pragma once

#include <cstddef>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace vnjit::tests {

/// Which level each of several choices takes.
using Levels = std::vector<std::size_t>;

/// Finds the rows of covering_set() one after another.
class CoveringSearch {
 public:
  explicit CoveringSearch(const std::vector<std::size_t>& counts) : counts_(counts) {
    for (std::size_t a = 0; a < counts_.size(); ++a) {
      for (std::size_t b = a + 1; b < counts_.size(); ++b) {
        for (std::size_t x = 0; x < counts_[a]; ++x) {
          for (std::size_t y = 0; y < counts_[b]; ++y) open_.insert({a, x, b, y});
        }
      }
    }
    while (!open_.empty()) rows_.push_back(next_row());
  }

  std::vector<Levels> rows() && { return std::move(rows_); }

 private:
  using Pair = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

  // Starts from a pair that has not occurred; each other choice takes the level that makes the
  // most such pairs with those taken before.
  Levels next_row() {
    const auto [first, x, second, y] = *open_.begin();
    Levels row(counts_.size());
    std::vector<bool> taken(counts_.size(), false);
    const auto take = [&](std::size_t choice, std::size_t level) {
      row[choice] = level;
      taken[choice] = true;
    };
    take(first, x);
    take(second, y);
    for (std::size_t choice = 0; choice < counts_.size(); ++choice) {
      if (!taken[choice]) take(choice, best_level(choice, row, taken));
    }
    for (std::size_t a = 0; a < row.size(); ++a) {
      for (std::size_t b = a + 1; b < row.size(); ++b) open_.erase({a, row[a], b, row[b]});
    }
    return row;
  }

  std::size_t best_level(std::size_t choice, const Levels& row,
                         const std::vector<bool>& taken) const {
    std::size_t best = rows_.size() % counts_[choice];  // where none is better, each in its turn
    std::size_t most = new_pairs(choice, best, row, taken);
    for (std::size_t level = 0; level < counts_[choice]; ++level) {
      const std::size_t pairs = new_pairs(choice, level, row, taken);
      if (pairs > most) {
        best = level;
        most = pairs;
      }
    }
    return best;
  }

  std::size_t new_pairs(std::size_t choice, std::size_t level, const Levels& row,
                        const std::vector<bool>& taken) const {
    std::size_t count = 0;
    for (std::size_t other = 0; other < row.size(); ++other) {
      if (!taken[other]) continue;
      count += other < choice ? open_.count({other, row[other], choice, level})
                              : open_.count({choice, level, other, row[other]});
    }
    return count;
  }

  std::vector<std::size_t> counts_;
  std::set<Pair> open_;  // pairs of (choice, level) that have not occurred
  std::vector<Levels> rows_;
};

/// Combinations in which every two levels of every two choices occur together, far fewer than all
/// there are. `counts` are the numbers of levels. The same every time.
inline std::vector<Levels> covering_set(const std::vector<std::size_t>& counts) {
  return CoveringSearch(counts).rows();
}

}  // namespace vnjit::tests
