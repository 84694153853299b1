#include "inspection.hpp"

#include <algorithm>

#include "disassemble.hpp"
#include "vnjit/runtime/runtime.hpp"
#include "vnjit/runtime/tune/sweep_space.hpp"

namespace vnjit::cli {
namespace {

constexpr const char* kLineInfo = "--generate-line-info";

/// Multiplications of 32 bits to 64 in a call of Philox4x32, and the values that a call makes.
struct Call {
  int products;
  double values;
};

std::optional<Call> call_of(const NoiseSpec& noise) {
  if (noise.generator == Generator::splitmix64) return std::nullopt;
  const int rounds = noise.generator == Generator::triton ? 10 : noise.rounds;
  if (noise.generator == Generator::triton) return Call{2 * rounds, 1};
  switch (noise.distribution) {
    case Distribution::uniform8:
      return Call{2 * rounds, 16};
    case Distribution::rademacher:
      return Call{2 * rounds, 128};
    default:
      return Call{2 * rounds, 4};
  }
}

std::optional<double> noise_instructions(Runtime& runtime, const std::filesystem::path& nvdisasm,
                                         const KernelRequest& request) {
  const NoiseSpec& noise = noise_of(request.problem);
  const std::optional<Call> call = call_of(noise);
  if (!call) return std::nullopt;
  const Binary binary = runtime.compile(emit_noise_rate(noise, request.limits)).binary;
  const std::vector<CodeLine> loop = largest_loop(parse_sass(disassemble(nvdisasm, binary.cubin)));
  const auto products = std::ranges::count_if(
      loop, [](const CodeLine& line) { return opcode(line.text).starts_with("IMAD.WIDE.U32"); });
  const double calls = static_cast<double>(products) / call->products;
  if (calls < 0.5) return std::nullopt;
  return mix_of(loop).total() / (calls * call->values);
}

}  // namespace

Inspection inspect(const KernelRequest& request) {
  Inspection found;
  found.request = request;
  found.source = request.source();
  Runtime runtime(request.options());
  KernelSource with_lines = found.source;
  with_lines.options.emplace_back(kLineInfo);
  const Binary binary = runtime.compile(with_lines).binary;
  found.resources.config = request.config;
  set_resources(found.resources, binary.usage, found.source.shared_bytes, request.limits);
  found.ptx = parse_ptx(runtime.compile_to_ptx(with_lines));
  const std::filesystem::path nvdisasm = find_nvdisasm(runtime.options());
  if (nvdisasm.empty()) {
    found.sass_note =
        "There is no SASS: nvdisasm was not found. It comes with a CUDA toolkit and as the wheel "
        "nvidia-cuda-nvdisasm; VNJIT_NVDISASM names it.";
    return found;
  }
  found.sass = parse_sass(disassemble(nvdisasm, binary.cubin));
  found.noise_instructions = noise_instructions(runtime, nvdisasm, request);
  return found;
}

}  // namespace vnjit::cli
