#include <algorithm>
#include <chrono>
#include <optional>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/c_api/arguments.hpp"
#include "vnjit/runtime/c_api/handles.hpp"
#include "vnjit/runtime/c_api/results.hpp"
#include "vnjit/runtime/explain_key.hpp"

namespace vnjit::c_api {
namespace {

const Plan& plan_of(const vnjit_plan* plan) { return *required(plan, "plan").plan; }

std::optional<Config> config_of(const char* text) {
  if (text == nullptr) return std::nullopt;
  return parse_config(text);
}

KeyParts key_parts(const vnjit_problem* given, const char* arch, const char* config_text,
                   const std::string& nvrtc) {
  const Problem problem = problem_of(given);
  const DeviceLimits limits = DeviceLimits::preset(&required(arch, "arch"));
  const std::optional<Config> config = config_of(config_text);
  return {.problem = problem,
          .config = config ? *config : choose_config(problem, limits),
          .limits = limits,
          .access = contiguous_access(problem),
          .nvrtc = nvrtc};
}

KernelSource source_of(const vnjit_problem* given, const char* arch, const char* config_text,
                       const char* access) {
  const Problem problem = problem_of(given);
  const DeviceLimits limits = DeviceLimits::preset(&required(arch, "arch"));
  const std::optional<Config> config = config_of(config_text);
  return emit(problem, config ? *config : choose_config(problem, limits), limits,
              access != nullptr ? parse_access(access) : contiguous_access(problem));
}

}  // namespace
}  // namespace vnjit::c_api

using namespace vnjit::c_api;

vnjit_status vnjit_plan_create(vnjit_runtime* runtime, vnjit_device* device,
                               const vnjit_problem* problem, const char* config, vnjit_plan** plan,
                               vnjit_error* error) {
  return guarded(error, [&] {
    create(plan, "plan", [&] {
      return required(runtime, "runtime")
          .runtime.plan(problem_of(problem), required(device, "device").device, config_of(config));
    });
  });
}

void vnjit_plan_destroy(vnjit_plan* plan) { delete plan; }

vnjit_status vnjit_plan_create_async(vnjit_runtime* runtime, vnjit_device* device,
                                     const vnjit_problem* problem, const char* config,
                                     vnjit_plan_request** request, vnjit_error* error) {
  return guarded(error, [&] {
    create(request, "request", [&] {
      return required(runtime, "runtime")
          .runtime.plan_async(problem_of(problem), required(device, "device").device,
                              config_of(config));
    });
  });
}

void vnjit_plan_request_destroy(vnjit_plan_request* request) { delete request; }

vnjit_status vnjit_plan_request_wait(const vnjit_plan_request* request, int64_t milliseconds,
                                     int32_t* ready, vnjit_error* error) {
  return guarded(error, [&] {
    const vnjit::PlanRequest& waited = required(request, "request").request;
    auto& result = required(ready, "ready");
    if (milliseconds < 0) {
      waited.wait();
      result = 1;
    } else {
      constexpr int64_t kDay = 86'400'000;  // a longer wait would not fit nanoseconds
      result = waited.wait_for(std::chrono::milliseconds(std::min(milliseconds, kDay))) ? 1 : 0;
    }
  });
}

vnjit_status vnjit_plan_request_get(const vnjit_plan_request* request, vnjit_plan** plan,
                                    vnjit_error* error) {
  return guarded(error, [&] {
    create(plan, "plan", [&] { return required(request, "request").request.get(); });
  });
}

vnjit_status vnjit_plan_request_now(const vnjit_plan_request* request, vnjit_plan** plan,
                                    vnjit_error* error) {
  return guarded(error, [&] {
    required(plan, "plan") = nullptr;
    if (auto now = required(request, "request").request.now()) *plan = new vnjit_plan{now};
  });
}

vnjit_status vnjit_plan_workspace_bytes(const vnjit_plan* plan, const vnjit_arguments* arguments,
                                        size_t* bytes, vnjit_error* error) {
  return guarded(error, [&] {
    const auto& used = plan_of(plan);
    auto& result = required(bytes, "bytes");
    with_arguments(arguments, [&](const auto& sizes) { result = used.workspace_bytes(sizes); });
  });
}

vnjit_status vnjit_plan_run(const vnjit_plan* plan, const vnjit_arguments* arguments, void* stream,
                            void* workspace, size_t workspace_bytes, vnjit_error* error) {
  return guarded(error, [&] {
    const auto& used = plan_of(plan);
    with_arguments(arguments, [&](const auto& run) {
      used.run(run, static_cast<vnjit::StreamHandle>(stream), {workspace, workspace_bytes});
    });
  });
}

vnjit_status vnjit_plan_explain(const vnjit_plan* plan, char* text, size_t capacity, size_t* needed,
                                vnjit_error* error) {
  return guarded(error, [&] { give_text(plan_of(plan).explain(), text, capacity, needed); });
}

vnjit_status vnjit_emit(const vnjit_problem* problem, const char* arch, const char* config,
                        const char* access, char* text, size_t capacity, size_t* needed,
                        vnjit_error* error) {
  return guarded(error, [&] {
    give_text(source_of(problem, arch, config, access).text, text, capacity, needed);
  });
}

vnjit_status vnjit_compile(vnjit_runtime* runtime, const vnjit_problem* problem, const char* arch,
                           const char* config, const char* access, void* cubin, size_t capacity,
                           size_t* needed, vnjit_error* error) {
  return guarded(error, [&] {
    auto& compiler = required(runtime, "runtime").runtime;
    const std::string image =
        compiler.compile(source_of(problem, arch, config, access)).binary.cubin;
    give(std::span<const char>(image), static_cast<char*>(cubin), capacity, needed);
  });
}

vnjit_status vnjit_explain_key(vnjit_runtime* runtime, const vnjit_problem* problem,
                               const char* config, const vnjit_problem* other_problem,
                               const char* other_config, const char* arch, char* text,
                               size_t capacity, size_t* needed, vnjit_error* error) {
  return guarded(error, [&] {
    const std::string nvrtc = required(runtime, "runtime").runtime.nvrtc_identity();
    give_text(vnjit::explain_key(key_parts(problem, arch, config, nvrtc),
                                 key_parts(other_problem, arch, other_config, nvrtc))
                  .text(),
              text, capacity, needed);
  });
}
