#pragma once

#include <stdexcept>

namespace vnjit {

/// Base of every error this library throws. `what()` says what was asked, what is allowed and,
/// where there is something to do, what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A caller's value is outside what the operation is defined for; names the argument and its value.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A kernel configuration cannot work for a problem on a device; names the field. Tuners skip it.
class ConfigError : public Error {
 public:
  using Error::Error;
};

}  // namespace vnjit
