#include <fmt/format.h>

#include "vnjit/runtime/c_api/handles.hpp"
#include "vnjit/runtime/c_api/results.hpp"
#include "vnjit/runtime/c_api/structs.hpp"
#include "vnjit/runtime/c_api/values.hpp"

namespace vnjit::c_api {

template <>
vnjit_options defaults() {
  vnjit_options options{};
  options.read_environment = 1;
  options.cached_plans = Options{}.cached_plans;
  options.cache_bytes = -1;
  return options;
}

namespace {

std::function<void(Severity, std::string_view)> report_to(vnjit_report_function report,
                                                          void* user) {
  return [report, user](Severity severity, std::string_view message) {
    report(user, severity == Severity::warning ? VNJIT_SEVERITY_WARNING : VNJIT_SEVERITY_INFO,
           std::string(message).c_str());
  };
}

Options options_of(const vnjit_options* given) {
  if (given == nullptr) return Options::from_environment();
  const auto c = adopted<vnjit_options>(given);
  Options options = cpp_value<bool>("read_environment", c.read_environment)
                        ? Options::from_environment()
                        : Options{};
  if (c.cache_dir != nullptr) options.cache_dir = c.cache_dir;
  if (c.nvrtc != nullptr) options.nvrtc = c.nvrtc;
  if (c.report != nullptr) options.report = report_to(c.report, c.report_user);
  if (c.cpu_threads != 0) options.cpu_threads = c.cpu_threads;
  options.cached_plans = c.cached_plans;
  if (c.cache_bytes < -1) {
    throw InvalidArgument(
        fmt::format("cache_bytes is {}; it must be at least 0, or -1 for what the environment says",
                    c.cache_bytes));
  }
  if (c.cache_bytes >= 0) options.cache_bytes = c.cache_bytes;
  return options;
}

Runtime& runtime_of(vnjit_runtime* runtime) { return required(runtime, "runtime").runtime; }

}  // namespace
}  // namespace vnjit::c_api

using namespace vnjit::c_api;

vnjit_status vnjit_runtime_create(const vnjit_options* options, vnjit_runtime** runtime,
                                  vnjit_error* error) {
  return guarded(error, [&] {
    create(runtime, "runtime", [&] { return vnjit::Runtime(options_of(options)); });
  });
}

void vnjit_runtime_destroy(vnjit_runtime* runtime) { delete runtime; }

vnjit_status vnjit_runtime_describe(vnjit_runtime* runtime, char* text, size_t capacity,
                                    size_t* needed, vnjit_error* error) {
  return guarded(error, [&] { give_text(runtime_of(runtime).describe(), text, capacity, needed); });
}

vnjit_status vnjit_gpu_count(vnjit_runtime* runtime, int32_t* count, vnjit_error* error) {
  std::string why;
  const vnjit_status status =
      guarded(error, [&] { required(count, "count") = runtime_of(runtime).gpu_count(&why); });
  return status == VNJIT_OK ? report(error, VNJIT_OK, why) : status;
}

vnjit_status vnjit_device_cpu(vnjit_runtime* runtime, vnjit_device** device, vnjit_error* error) {
  return guarded(error,
                 [&] { create(device, "device", [&] { return runtime_of(runtime).cpu(); }); });
}

vnjit_status vnjit_device_gpu(vnjit_runtime* runtime, int32_t ordinal, vnjit_device** device,
                              vnjit_error* error) {
  return guarded(
      error, [&] { create(device, "device", [&] { return runtime_of(runtime).gpu(ordinal); }); });
}

vnjit_status vnjit_device_best(vnjit_runtime* runtime, vnjit_device** device, vnjit_error* error) {
  return guarded(
      error, [&] { create(device, "device", [&] { return runtime_of(runtime).best_device(); }); });
}
