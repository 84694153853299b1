#include "vnjit/runtime/cpu/backend.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <utility>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/operations.hpp"
#include "vnjit/runtime/cpu/thread_pool.hpp"

namespace vnjit {
namespace {

constexpr std::align_val_t kAlignment{256};

void check_stream(StreamHandle stream) {
  if (stream != nullptr) {
    throw InvalidArgument("stream is not null; the CPU backend has no streams: pass null");
  }
}

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int threads) : pool_(threads) {}

  bool is_gpu() const override { return false; }
  int ordinal() const override { return -1; }
  const std::string& name() const override { return name_; }
  const DeviceLimits& limits() const override { return limits_; }

  void* allocate(std::size_t bytes) override { return ::operator new(bytes, kAlignment); }
  void release(void* data) noexcept override { ::operator delete(data, kAlignment); }

  void copy_in(void* device, const void* host, std::size_t bytes, StreamHandle stream) override {
    check_stream(stream);
    if (bytes != 0) std::memcpy(device, host, bytes);
  }
  void copy_out(void* host, const void* device, std::size_t bytes, StreamHandle stream) override {
    check_stream(stream);
    if (bytes != 0) std::memcpy(host, device, bytes);
  }

  StreamHandle create_stream() override { return nullptr; }
  void destroy_stream(StreamHandle) noexcept override {}
  void synchronize(StreamHandle stream) override { check_stream(stream); }

  cpu::ThreadPool& pool() { return pool_; }

 private:
  std::string name_ = "cpu";
  DeviceLimits limits_{};
  cpu::ThreadPool pool_;
};

/// Host memory can be read here, so that what is refused of a value is refused of a pointed-to one.
Sigma resolved(const Sigma& sigma) {
  return sigma.pointer == nullptr ? sigma : Sigma(*sigma.pointer);
}

class CpuPlan final : public Plan {
 public:
  CpuPlan(Problem problem, std::shared_ptr<CpuDevice> device)
      : problem_(std::move(problem)), device_(std::move(device)) {}

  const Problem& problem() const override { return problem_; }
  const Device& device() const override { return *device_; }

  std::size_t workspace_bytes(const PerturbedLinearArguments&) const override { return 0; }
  std::size_t workspace_bytes(const GradientArguments&) const override { return 0; }
  std::size_t workspace_bytes(const ReduceMetricArguments&) const override { return 0; }

  void run(const PerturbedLinearArguments& arguments, StreamHandle stream,
           Workspace workspace) const override {
    run_as<PerturbedLinear>("perturbed-linear", arguments, stream, workspace,
                            cpu::perturbed_linear);
  }
  void run(const GradientArguments& arguments, StreamHandle stream,
           Workspace workspace) const override {
    run_as<Gradient>("gradient", arguments, stream, workspace, cpu::gradient);
  }
  void run(const ReduceMetricArguments& arguments, StreamHandle stream,
           Workspace workspace) const override {
    run_as<ReduceMetric>("reduce-metric", arguments, stream, workspace, cpu::reduce_metric);
  }

  std::string explain() const override {
    const NoiseSpec& noise = noise_of(problem_);
    return fmt::format(
        "device: cpu, {} thread{}\nproblem: {}\nnoise: {}{}\nkernels: none, host code is compiled "
        "ahead of time\n",
        device_->pool().threads(), device_->pool().threads() == 1 ? "" : "s",
        command_flags(problem_), to_string(noise), noise.antithetic ? ", antithetic" : "");
  }

 private:
  template <typename Operation, typename Arguments>
  void run_as(std::string_view asked, Arguments arguments, StreamHandle stream,
              const Workspace& workspace,
              void (*operation)(const Operation&, const Arguments&, cpu::ThreadPool&)) const {
    const auto& problem = operation_for<Operation>(problem_, asked);
    check_stream(stream);
    arguments.sigma = resolved(arguments.sigma);
    operation(problem, checked(problem, arguments, workspace), device_->pool());
  }

  Problem problem_;
  std::shared_ptr<CpuDevice> device_;
};

}  // namespace

std::shared_ptr<Device> make_cpu_device(int threads) {
  return std::make_shared<CpuDevice>(threads);
}

std::shared_ptr<const Plan> make_cpu_plan(const Problem& problem,
                                          const std::shared_ptr<Device>& device) {
  validate(problem);
  auto cpu_device = std::dynamic_pointer_cast<CpuDevice>(device);
  if (cpu_device == nullptr) {
    throw InvalidArgument(
        fmt::format("device {} is not the CPU; a CPU plan needs a device from "
                    "make_cpu_device",
                    device == nullptr ? "null" : device->name()));
  }
  return std::make_shared<CpuPlan>(problem, std::move(cpu_device));
}

}  // namespace vnjit
