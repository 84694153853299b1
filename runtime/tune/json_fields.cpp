#include "vnjit/runtime/tune/json_fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

namespace vnjit {
namespace {

constexpr int kMaxDepth = 16;

/// Builds the document and notices what nlohmann's own parser lets pass: names given twice.
class StrictParser : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  explicit StrictParser(Json& json) : json_sax_dom_parser(json, false) {}

  bool start_object(std::size_t size) {
    return deeper() && (names_.emplace_back(), json_sax_dom_parser::start_object(size));
  }
  bool end_object() {
    names_.pop_back();
    --depth_;
    return json_sax_dom_parser::end_object();
  }
  bool start_array(std::size_t size) { return deeper() && json_sax_dom_parser::start_array(size); }
  bool end_array() {
    --depth_;
    return json_sax_dom_parser::end_array();
  }
  bool key(std::string& name) {
    if (!names_.back().insert(name).second) {
      why_ = fmt::format("field '{}' is given twice", name);
      return false;
    }
    return json_sax_dom_parser::key(name);
  }
  template <typename Exception>
  bool parse_error(std::size_t position, const std::string&, const Exception&) {
    why_ = fmt::format("no JSON from byte {} on", position);
    return false;
  }

  const std::string& why() const { return why_; }

 private:
  bool deeper() {
    if (++depth_ <= kMaxDepth) return true;
    why_ = fmt::format("it nests deeper than {}", kMaxDepth);
    return false;
  }

  int depth_ = 0;
  std::vector<std::set<std::string>> names_;
  std::string why_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view what) {
  Json json;
  StrictParser parser(json);
  if (!Json::sax_parse(text.begin(), text.end(), &parser)) {
    throw InvalidArgument(fmt::format("not {}: {}", what, parser.why()));
  }
  if (!json.is_object()) throw InvalidArgument(fmt::format("not {}: it is no object", what));
  return json;
}

JsonFields::JsonFields(const Json& json, std::string_view path) : json_(json), path_(path) {
  if (!json.is_object()) throw InvalidArgument(fmt::format("{} is no object", path));
}

std::string JsonFields::label(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void JsonFields::refuse(const char* name, std::string_view what) const {
  throw InvalidArgument(
      fmt::format("{} is {}; it must be {}", label(name),
                  json_.at(name).dump(-1, ' ', true, Json::error_handler_t::replace), what));
}

const Json& JsonFields::at(const char* name) {
  const auto found = json_.find(name);
  if (found == json_.end()) throw InvalidArgument(fmt::format("{} is missing", label(name)));
  taken_.insert(name);
  return *found;
}

std::string JsonFields::text(const char* name) {
  const Json& value = at(name);
  if (!value.is_string()) refuse(name, "a text");
  return value.get<std::string>();
}

std::int64_t JsonFields::integer(const char* name) {
  const Json& value = at(name);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})) {
    refuse(name, "a whole number of 64 bits");
  }
  return value.get<std::int64_t>();
}

std::int64_t JsonFields::integer(const char* name, std::int64_t unless_given) {
  return has(name) ? integer(name) : unless_given;
}

int JsonFields::small_integer(const char* name) {
  const std::int64_t value = integer(name);
  if (value < 0 || value > std::numeric_limits<int>::max()) {
    refuse(name, "a whole number from 0 to 2147483647");
  }
  return static_cast<int>(value);
}

bool JsonFields::boolean(const char* name) {
  const Json& value = at(name);
  if (!value.is_boolean()) refuse(name, "true or false");
  return value.get<bool>();
}

bool JsonFields::boolean(const char* name, bool unless_given) {
  return has(name) ? boolean(name) : unless_given;
}

double JsonFields::number(const char* name) {
  const Json& value = at(name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(name, "a finite number");
  return value.get<double>();
}

void JsonFields::expect_no_others() const {
  for (const auto& [name, value] : json_.items()) {
    if (!taken_.contains(name)) {
      throw InvalidArgument(fmt::format("unknown field {}", label(name)));
    }
  }
}

}  // namespace vnjit
