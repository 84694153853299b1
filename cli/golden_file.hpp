#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vnjit::cli {

/// Elements offset .. offset + 15 of the noise of one seed, as fp32 bit patterns.
struct GoldenNoise {
  std::string where;  ///< `triton_noise[3]`
  std::int64_t seed = 0;
  std::int64_t offset = 0;
  std::vector<std::uint32_t> bits;
};

/// What the four operations gave.
struct GoldenResults {
  std::vector<float> forward;          ///< (pop, batch, out)
  std::vector<float> weight_gradient;  ///< (out, in)
  std::vector<float> bias_gradient;    ///< (out), at offset + out·in
  std::vector<float> reduce_metric;    ///< (pop), of the weight
};

/// Inputs of the four operations and their results in the seed module's two noises.
struct GoldenOperations {
  std::string where;  ///< `ops[3]`
  std::int64_t pop = 0, batch = 0, in = 0, out = 0;
  bool per_individual_x = false;
  float sigma = 0;
  std::int64_t offset = 0;
  std::vector<std::int64_t> seeds;
  std::vector<float> x, weight;
  std::vector<float> bias;  ///< empty: none
  std::vector<float> fitness;
  GoldenResults cpu;  ///< splitmix64 noise, products in fp32
  GoldenResults gpu;  ///< triton noise, forward products in TF32
};

struct GoldenOffsets {
  std::string where;  ///< `compute_offsets[3]`
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<std::int64_t> offsets;
};

/// Values made by the seed module's own code.
struct GoldenFile {
  std::vector<GoldenNoise> triton_noise;
  std::vector<GoldenNoise> splitmix64_noise;
  std::vector<GoldenOperations> operations;
  std::vector<GoldenOffsets> compute_offsets;
};

/// Reads a file in the format of tests/golden/seed_golden.json; keys it does not know are ignored.
/// Throws FileError naming the file and, where its content is wrong, the case, the key and what is
/// expected there. A file without a case of each kind is refused: nothing would be compared.
GoldenFile read_golden_file(const std::string& path);

}  // namespace vnjit::cli
