#include <optional>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/c_api/arguments.hpp"
#include "vnjit/runtime/c_api/handles.hpp"
#include "vnjit/runtime/c_api/results.hpp"

namespace vnjit::c_api {
namespace {

const Plan& plan_of(const vnjit_plan* plan) { return *required(plan, "plan").plan; }

std::optional<Config> config_of(const char* text) {
  if (text == nullptr) return std::nullopt;
  return parse_config(text);
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
