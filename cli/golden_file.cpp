#include "golden_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "files.hpp"

namespace vnjit::cli {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kNoiseRow = 16;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw FileError(where.empty() ? what : fmt::format("{}: {}", where, what));
}

/// A value of the file and the path to it, for messages.
struct Node {
  const Json& json;
  std::string where;

  Node operator[](const char* key) const {
    if (!json.is_object()) fail(where, "an object is expected");
    const auto found = json.find(key);
    if (found == json.end()) fail(where, fmt::format("key '{}' is missing", key));
    return {*found, where.empty() ? key : fmt::format("{}.{}", where, key)};
  }

  std::vector<Node> elements() const {
    if (!json.is_array()) fail(where, "an array is expected");
    std::vector<Node> nodes;
    for (const Json& element : json) {
      nodes.push_back({element, fmt::format("{}[{}]", where, nodes.size())});
    }
    return nodes;
  }

  std::int64_t integer() const {
    const bool fits = json.is_number_unsigned()
                          ? json.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max()
                          : json.is_number_integer();
    if (!fits) fail(where, "a 64-bit integer is expected");
    return json.get<std::int64_t>();
  }

  std::int64_t count() const {
    const std::int64_t value = integer();
    if (value < 0) fail(where, fmt::format("{} is negative", value));
    return value;
  }

  std::vector<std::int64_t> integers() const {
    std::vector<std::int64_t> values;
    for (const Node& element : elements()) values.push_back(element.integer());
    return values;
  }

  bool boolean() const {
    if (!json.is_boolean()) fail(where, "true or false is expected");
    return json.get<bool>();
  }

  float real() const {
    const float value = json.is_number() ? static_cast<float>(json.get<double>()) : NAN;
    if (!std::isfinite(value)) fail(where, "a finite number is expected");
    return value;
  }

  /// `count` fp32 patterns of 8 hexadecimal digits each.
  std::vector<std::uint32_t> patterns(std::int64_t count, std::string_view meaning) const {
    if (!json.is_string()) fail(where, "a string of hexadecimal digits is expected");
    const std::string& text = json.get_ref<const std::string&>();
    if (text.size() % 8 != 0 || static_cast<std::int64_t>(text.size() / 8) != count) {
      fail(where,
           fmt::format("{} hexadecimal digits, but 8 for each of {} values ({}) are expected",
                       text.size(), count, meaning));
    }
    std::vector<std::uint32_t> values;
    values.reserve(text.size() / 8);
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint32_t value = 0;
      const char* begin = text.data() + at;
      const auto [stop, error] = std::from_chars(begin, begin + 8, value, 16);
      if (error != std::errc() || stop != begin + 8) {
        fail(where, fmt::format("'{}' at digit {} is not hexadecimal", text.substr(at, 8), at));
      }
      values.push_back(value);
    }
    return values;
  }

  std::vector<float> reals(std::int64_t count, std::string_view meaning) const {
    std::vector<float> values;
    for (const std::uint32_t bits : patterns(count, meaning)) {
      values.push_back(std::bit_cast<float>(bits));
    }
    return values;
  }
};

std::int64_t product(const std::string& where, std::initializer_list<std::int64_t> sizes) {
  std::int64_t total = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(total, size, &total)) fail(where, "sizes beyond 2^63 - 1 elements");
  }
  return total;
}

GoldenNoise read_noise(const Node& node) {
  GoldenNoise row{node.where, node["seed"].integer(), node["offset"].count(),
                  node["bits"].patterns(kNoiseRow, "a noise row")};
  if (row.offset > std::numeric_limits<std::int64_t>::max() - (kNoiseRow - 1)) {
    fail(node["offset"].where, fmt::format("{} + 15 is beyond element 2^63 - 1", row.offset));
  }
  return row;
}

GoldenResults read_results(const Node& node, const GoldenOperations& shape) {
  return {node["forward"].reals(product(node.where, {shape.pop, shape.batch, shape.out}),
                                "pop x batch x out"),
          node["weight_gradient"].reals(product(node.where, {shape.out, shape.in}), "out x in"),
          node["bias_gradient"].reals(shape.out, "out"),
          node["reduce_metric"].reals(shape.pop, "pop")};
}

std::vector<std::int64_t> read_seeds(const Node& node, std::int64_t pop) {
  std::vector<std::int64_t> seeds = node.integers();
  if (static_cast<std::int64_t>(seeds.size()) != pop) {
    fail(node.where, fmt::format("{} seeds, but pop is {}", seeds.size(), pop));
  }
  return seeds;
}

std::vector<float> read_bias(const Node& node, bool has_bias, std::int64_t out) {
  if (has_bias) return node.reals(out, "out");
  if (!node.json.is_null()) fail(node.where, "a bias, but has_bias is false");
  return {};
}

GoldenOperations read_operations(const Node& node) {
  GoldenOperations golden;
  golden.where = node.where;
  golden.pop = node["pop"].count();
  golden.batch = node["batch"].count();
  golden.in = node["in"].count();
  golden.out = node["out"].count();
  golden.per_individual_x = node["per_individual_x"].boolean();
  golden.sigma = node["sigma"].real();
  golden.offset = node["offset"].count();
  golden.seeds = read_seeds(node["seeds"], golden.pop);
  const std::int64_t individuals = golden.per_individual_x ? golden.pop : 1;
  golden.x = node["x"].reals(product(node.where, {individuals, golden.batch, golden.in}),
                             golden.per_individual_x ? "pop x batch x in" : "batch x in");
  golden.weight = node["weight"].reals(product(node.where, {golden.out, golden.in}), "out x in");
  golden.bias = read_bias(node["bias"], node["has_bias"].boolean(), golden.out);
  golden.fitness = node["fitness"].reals(golden.pop, "pop");
  golden.cpu = read_results(node["cpu"], golden);
  golden.gpu = read_results(node["gpu"], golden);
  return golden;
}

GoldenOffsets read_offsets(const Node& node) {
  GoldenOffsets golden{node.where, {}, node["offsets"].integers()};
  for (const Node& shape : node["shapes"].elements()) golden.shapes.push_back(shape.integers());
  return golden;
}

template <typename T>
std::vector<T> read_all(const Node& node, T (*read)(const Node&)) {
  std::vector<T> all;
  for (const Node& element : node.elements()) all.push_back(read(element));
  if (all.empty()) {
    fail("", fmt::format("{} holds no cases; there is nothing to check", node.where));
  }
  return all;
}

/// What the parser says, without its error number and the token it read, which can be very long.
std::string_view essence(std::string_view message) {
  const std::size_t number = message.find("] ");
  if (number != std::string_view::npos) message.remove_prefix(number + 2);
  return message.substr(0, message.find("; last read"));
}

Json parse(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    fail("", fmt::format("not JSON: {}", essence(error.what())));
  }
}

}  // namespace

GoldenFile read_golden_file(const std::string& path) {
  const std::string text = read_file(path);
  try {
    const Json json = parse(text);
    const Node root{json, ""};
    return GoldenFile{
        read_all(root["triton_noise"], read_noise), read_all(root["splitmix64_noise"], read_noise),
        read_all(root["ops"], read_operations), read_all(root["compute_offsets"], read_offsets)};
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace vnjit::cli
