#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "random.hpp"

namespace es_digits {

constexpr std::int64_t kPixels = 64;
constexpr std::int64_t kClasses = 10;

/// Handwritten digits of 8x8 pixels.
struct Digits {
  std::vector<float> images;  ///< (count, kPixels), each pixel in [0, 1]
  std::vector<int> labels;    ///< (count), each in [0, kClasses)

  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

struct DigitsSplit {
  Digits train;  ///< 1,500 images
  Digits test;   ///< 297 images
};

/// The data file as built into the program.
std::string_view digits_csv();

/// All images in one fixed random order, the last of them for the test.
DigitsSplit load_digits();

/// Draws batches of different images.
class BatchSampler {
 public:
  /// `digits` must outlive the sampler; 1 <= batch <= digits.count().
  BatchSampler(const Digits& digits, std::int64_t batch);

  /// The next batch, valid until the next call.
  const Digits& next(Random& random);

 private:
  const Digits& digits_;
  std::vector<std::int64_t> order_;
  Digits batch_;
};

}  // namespace es_digits
