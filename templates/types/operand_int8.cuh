#pragma once

namespace vnjit {

/// Matrix operands of 8 bits, four in a register: noise bytes as they are drawn, 0 to 255, and X
/// quantized to -127 to 127. Sums are exact integers.
struct Operand {
  using Sum = int;
  static constexpr int kBytes = 1;
};

}  // namespace vnjit
