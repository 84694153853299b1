#include <cstdio>
#include <vnjit/vnjit.hpp>

int main() {
  vnjit::PerturbedLinear problem;
  problem.in = 96;
  problem.out = 40;
  const vnjit::DeviceLimits limits = vnjit::DeviceLimits::preset("sm_90");
  const vnjit::KernelSource source =
      vnjit::emit(problem, vnjit::choose_config(problem, limits), limits);
  vnjit::Runtime runtime{vnjit::Options{}};
  std::printf("%s on %s\n", source.entry.c_str(), runtime.cpu()->is_gpu() ? "a GPU" : "the CPU");
}
