#pragma once

#include <string>
#include <vector>

#include "vnjit/codegen/access.hpp"
#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/codegen/problem.hpp"

namespace vnjit {

/// What a binary is made of.
struct KeyParts {
  Problem problem{};
  Config config{};
  DeviceLimits limits{};
  Access access{};
  std::string nvrtc{};  ///< identity of the compiler: its build id
};

struct KeyField {
  std::string name;
  std::string first;
  std::string second;
  bool in_key = false;  ///< that it differs, alone, makes another binary
};

struct KeyExplanation {
  bool one_binary = false;  ///< the cache keys are equal
  std::string first_key;
  std::string second_key;
  std::vector<KeyField> differing;

  /// A line on whether they share a binary, and one for each differing field.
  std::string text() const;
};

/// Why two kernels do, or do not, share a binary, field by field. Nothing is taken on trust: that a
/// field is part of the key is found by changing it alone and emitting the source again. Throws
/// what emit() throws for either.
KeyExplanation explain_key(const KeyParts& first, const KeyParts& second);

}  // namespace vnjit
