#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/problem.hpp"

// Strict reading of JSON documents. Internal to tuning: no public header includes it.

namespace vnjit {

using Json = nlohmann::ordered_json;

/// Throws InvalidArgument for text that is no JSON, nests deeper than 16, names a field twice, or
/// is no object; `what` says what it was to be ("a tuning record").
Json parse_json(std::string_view text, std::string_view what);

/// Takes the fields of an object one by one. Throws InvalidArgument naming the field, with the path
/// to the object before it.
class JsonFields {
 public:
  /// Throws when `json` is no object.
  JsonFields(const Json& json, std::string_view path);

  bool has(const char* name) const { return json_.contains(name); }
  const Json& at(const char* name);
  std::string text(const char* name);
  std::int64_t integer(const char* name);
  std::int64_t integer(const char* name, std::int64_t unless_given);
  int small_integer(const char* name);  ///< from 0 to 2^31 - 1
  bool boolean(const char* name);
  bool boolean(const char* name, bool unless_given);
  double number(const char* name);  ///< finite

  /// parse(text), whose complaints then begin with the field.
  template <typename Parse>
  auto parsed(const char* name, Parse parse) {
    const std::string value = text(name);
    try {
      return parse(std::string_view(value));
    } catch (const Error& error) {
      throw InvalidArgument(label(name) + ": " + error.what());
    }
  }
  template <typename Parse, typename Value>
  Value parsed(const char* name, Parse parse, const Value& unless_given) {
    return has(name) ? parsed(name, parse) : unless_given;
  }

  /// Throws for a field that was not taken.
  void expect_no_others() const;

  std::string label(std::string_view name) const;

 private:
  [[noreturn]] void refuse(const char* name, std::string_view what) const;

  const Json& json_;
  std::string path_;
  std::set<std::string, std::less<>> taken_;
};

/// A problem as an object, and back. `where` is the path to it in its document.
Json problem_to_json(const Problem& problem);
Problem problem_from_json(const Json& json, std::string_view where);

}  // namespace vnjit
