#include "digits.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace es_digits {
namespace {

constexpr std::int64_t kTestImages = 297;
constexpr float kBrightest = 16.0f;

/// Reads one integer and the separator behind it off the front of `text`.
int take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    throw std::runtime_error("digits.csv: expected 65 integers a line");
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  text.remove_prefix(std::min<std::size_t>(1, text.size()));
  return number;
}

Digits parse_digits(std::string_view csv) {
  Digits digits;
  while (!csv.empty()) {
    for (std::int64_t pixel = 0; pixel < kPixels; ++pixel) {
      digits.images.push_back(static_cast<float>(take_number(csv)) / kBrightest);
    }
    digits.labels.push_back(take_number(csv));
  }
  return digits;
}

/// Moves `chosen` random entries of `order` to its front (the start of a Fisher-Yates shuffle;
/// std::shuffle gives another order with each standard library).
void shuffle_front(std::vector<std::int64_t>& order, std::int64_t chosen, Random& random) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(chosen); ++i) {
    std::swap(order[i], order[i + random.below(order.size() - i)]);
  }
}

std::vector<std::int64_t> identity_order(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void append(Digits& digits, const Digits& source, std::int64_t index) {
  const auto image = source.images.begin() + index * kPixels;
  digits.images.insert(digits.images.end(), image, image + kPixels);
  digits.labels.push_back(source.labels[static_cast<std::size_t>(index)]);
}

}  // namespace

DigitsSplit load_digits() {
  const Digits all = parse_digits(digits_csv());
  std::vector<std::int64_t> order = identity_order(all.count());
  Random fixed(0);
  shuffle_front(order, all.count(), fixed);
  DigitsSplit split;
  for (std::int64_t i = 0; i < all.count(); ++i) {
    Digits& part = i < all.count() - kTestImages ? split.train : split.test;
    append(part, all, order[static_cast<std::size_t>(i)]);
  }
  return split;
}

BatchSampler::BatchSampler(const Digits& digits, std::int64_t batch)
    : digits_(digits), order_(identity_order(digits.count())) {
  batch_.labels.resize(static_cast<std::size_t>(batch));
}

const Digits& BatchSampler::next(Random& random) {
  const std::int64_t size = batch_.count();
  shuffle_front(order_, size, random);
  batch_.images.clear();
  batch_.labels.clear();
  for (std::int64_t i = 0; i < size; ++i) {
    append(batch_, digits_, order_[static_cast<std::size_t>(i)]);
  }
  return batch_;
}

}  // namespace es_digits
