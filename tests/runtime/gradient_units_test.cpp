#include "gradient_units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace vnjit {
namespace {

using tests::List;
using tests::Unit;

constexpr std::size_t kCapacity = 64;

struct Shape {
  std::int64_t offset;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t noise_row_stride = 0;
  std::int64_t output_row_stride = 0;
};

/// A block's output, with how often each place was written and by which noise element.
class Written {
 public:
  explicit Written(const Shape& shape) : shape_(shape) {
    if (shape_.noise_row_stride == 0) shape_.noise_row_stride = shape_.columns;
    if (shape_.output_row_stride == 0) shape_.output_row_stride = shape_.columns;
    const auto places = static_cast<std::size_t>(shape_.rows * shape_.output_row_stride);
    memory_.resize(places);
    times_.resize(places);
    elements_.resize(places);
  }

  float* output() { return memory_.data(); }

  bool write(const float* place, unsigned long long element) {
    const std::less<const float*> before;
    if (before(place, memory_.data()) || !before(place, memory_.data() + memory_.size())) {
      return false;
    }
    const auto at = static_cast<std::size_t>(place - memory_.data());
    ++times_[at];
    elements_[at] = element;
    return true;
  }

  void expect_each_once() const {
    for (std::size_t at = 0; at < times_.size(); ++at) {
      const std::int64_t row = static_cast<std::int64_t>(at) / shape_.output_row_stride;
      const std::int64_t column = static_cast<std::int64_t>(at) % shape_.output_row_stride;
      ASSERT_EQ(times_[at], column < shape_.columns ? 1 : 0) << row << ' ' << column;
      if (times_[at] == 0) continue;
      ASSERT_EQ(elements_[at], static_cast<unsigned long long>(
                                   shape_.offset + row * shape_.noise_row_stride + column))
          << row << ' ' << column;
    }
  }

 private:
  Shape shape_;
  std::vector<float> memory_;
  std::vector<int> times_;
  std::vector<unsigned long long> elements_;
};

/// That kernels launched for the lists write every parameter once, from its noise element, and
/// nothing else.
void expect_each_once(const std::vector<Shape>& shapes, std::size_t capacity = kCapacity,
                      std::int64_t segment = 512) {
  std::vector<Written> written(shapes.begin(), shapes.end());
  std::vector<GradientBlock> blocks;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    blocks.push_back({.offset = shapes[n].offset,
                      .rows = shapes[n].rows,
                      .columns = shapes[n].columns,
                      .output = written[n].output(),
                      .output_row_stride = shapes[n].output_row_stride,
                      .noise_row_stride = shapes[n].noise_row_stride});
  }
  for (const List& list : tests::lists_of(blocks, capacity, segment)) {
    const std::vector<GradientBlockParams> params = tests::params_of(list);
    ASSERT_LE(params.size(), capacity);
    // The last thread block has warps without a unit.
    for (std::int64_t number = 0; number < list.units + 8; ++number) {
      const Unit unit = tests::unit_of(params, list.units, static_cast<unsigned>(number), segment);
      if (!unit.exists) continue;
      for (std::int64_t n = 0; n < segment; ++n) {
        const float* place = tests::written_by(unit, n);
        const unsigned long long element = unit.segment * static_cast<unsigned long long>(segment) +
                                           static_cast<unsigned long long>(n);
        ASSERT_TRUE(!place || std::ranges::any_of(written, [&](Written& one) {
          return one.write(place, element);
        })) << "outside of all outputs";
      }
    }
  }
  for (std::size_t n = 0; n < written.size(); ++n) {
    SCOPED_TRACE("block " + std::to_string(n));
    written[n].expect_each_once();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(GradientUnits, MeetEachElementOfOneRowOnceWhereverItLies) {
  for (const std::int64_t offset : {0, 1, 511, 512, 513, 1023}) {
    for (const std::int64_t columns : {1, 2, 10, 511, 512, 513, 1024, 1025, 3000}) {
      SCOPED_TRACE(std::to_string(offset) + " " + std::to_string(columns));
      expect_each_once({{offset, 1, columns}});
      expect_each_once({{offset, 1, columns}}, kCapacity, 1024);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(GradientUnits, MeetEachElementOnceWhateverTheGapsOfNoiseAndOutput) {
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{77}, std::int64_t{512},
                                    (std::int64_t{1} << 32) - 3, (std::int64_t{1} << 40) + 1}) {
    for (const std::int64_t columns : {1, 10, 511, 512, 700}) {
      for (const std::int64_t gap : {0, 1, 64, 511, 512, 513, 1024, 5000}) {
        for (const std::int64_t output_gap : {0, 3}) {
          SCOPED_TRACE(std::to_string(offset) + " " + std::to_string(columns) + " " +
                       std::to_string(gap) + " " + std::to_string(output_gap));
          const Shape shape{offset, 5, columns, columns + gap, columns + output_gap};
          expect_each_once({shape});
          expect_each_once({shape}, kCapacity, 1024);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(GradientUnits, MeetEachElementOfAModelOnceWithAnyCapacity) {
  std::vector<Shape> shapes;
  std::int64_t offset = 5;
  for (const std::int64_t width : {784, 300, 1, 0, 128, 10}) {
    shapes.push_back({offset, 7, width});
    offset += 7 * width;
    shapes.push_back({offset, 1, width});
    offset += width;
    shapes.push_back({offset, 3, width, width + 900, width + 1});
    offset += 3 * (width + 900);
  }
  for (const std::size_t capacity : {1u, 2u, 5u, 17u, 64u, 1000u}) {
    SCOPED_TRACE(capacity);
    expect_each_once(shapes, capacity);
  }
}

}  // namespace
}  // namespace vnjit
