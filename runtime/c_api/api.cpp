#include <limits>
#include <vector>

#include "vnjit/codegen/pipeline_depth.hpp"
#include "vnjit/runtime/c_api/problem.hpp"
#include "vnjit/runtime/c_api/results.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

namespace vnjit::c_api {
namespace {

/// Cuts the sizes of all blocks, one after another, into blocks.
std::vector<std::vector<std::int64_t>> shapes_of(const std::int64_t* sizes,
                                                 const std::size_t* ranks, std::size_t count) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (std::size_t block = 0; block < count; ++block) {
    const std::size_t rank = (&required(ranks, "ranks"))[block];
    if (rank != 0) required(sizes, "sizes");
    shapes.emplace_back(sizes, sizes + rank);
    sizes += rank;
  }
  return shapes;
}

/// Elements offset + 0 ... offset + count - 1 go to `values`.
void check_range(std::int64_t offset, std::int64_t count, const float* values) {
  if (count < 0) throw InvalidArgument(fmt::format("count is {}; it must be at least 0", count));
  if (offset < 0) throw InvalidArgument(fmt::format("offset is {}; it must be at least 0", offset));
  if (count == 0) return;
  if (count - 1 > std::numeric_limits<std::int64_t>::max() - offset) {
    throw InvalidArgument(
        fmt::format("offset is {}; with count = {} the last noise element would be beyond 2^63 - 1",
                    offset, count));
  }
  required(values, "values");
}

}  // namespace
}  // namespace vnjit::c_api

using namespace vnjit::c_api;

int32_t vnjit_version() { return VNJIT_VERSION; }

int32_t vnjit_noise_contract_version() { return vnjit::noise_contract_version(); }

const char* vnjit_status_name(vnjit_status status) {
  switch (status) {
#define VNJIT_NAME(name) \
  case name:             \
    return #name;
    VNJIT_NAME(VNJIT_OK)
    VNJIT_NAME(VNJIT_ERROR_INVALID_ARGUMENT)
    VNJIT_NAME(VNJIT_ERROR_CONFIG)
    VNJIT_NAME(VNJIT_ERROR_COMPILE)
    VNJIT_NAME(VNJIT_ERROR_CUDA)
    VNJIT_NAME(VNJIT_ERROR_UNAVAILABLE)
    VNJIT_NAME(VNJIT_ERROR_OUT_OF_MEMORY)
    VNJIT_NAME(VNJIT_ERROR_INTERNAL)
#undef VNJIT_NAME
    default:
      return "unknown status";
  }
}

vnjit_status vnjit_parse_noise(const char* text, vnjit_noise* noise, vnjit_error* error) {
  return guarded(error, [&] {
    auto& result = required(noise, "noise");
    result = to_c(vnjit::parse_noise_spec(&required(text, "text")));
  });
}

vnjit_status vnjit_fill_noise(const vnjit_noise* noise, int64_t seed, int64_t offset, int64_t count,
                              float* values, vnjit_error* error) {
  return guarded(error, [&] {
    const vnjit::NoiseSpec spec = noise_of(required(noise, "noise"));
    spec.validate();
    check_range(offset, count, values);
    vnjit::fill_noise(spec, seed, static_cast<std::uint64_t>(offset), count, values);
  });
}

vnjit_status vnjit_output_shape(const vnjit_problem* problem, int64_t* shape, size_t capacity,
                                size_t* needed, vnjit_error* error) {
  return guarded(error, [&] {
    const vnjit::Problem given = problem_of(problem);
    vnjit::validate(given);
    give(std::span<const std::int64_t>(vnjit::output_shape(given)), shape, capacity, needed);
  });
}

vnjit_status vnjit_compute_offsets(const int64_t* sizes, const size_t* ranks, size_t count,
                                   int64_t align, int64_t* offsets, vnjit_error* error) {
  return guarded(error, [&] {
    const auto result = vnjit::compute_offsets(shapes_of(sizes, ranks, count), align);
    if (!result.empty()) std::copy(result.begin(), result.end(), &required(offsets, "offsets"));
  });
}

int32_t vnjit_choose_num_stages(int64_t budget_bytes, int64_t per_stage_bytes, int32_t max_stages) {
  return vnjit::choose_num_stages(budget_bytes, per_stage_bytes, max_stages);
}
