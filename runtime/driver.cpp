#include "vnjit/runtime/driver.hpp"

#include <fmt/format.h>

#include "vnjit/runtime/error.hpp"

#define VNJIT_TEXT(name) #name

namespace vnjit {
namespace {

SharedLibrary open_driver(const std::vector<std::string>& names) {
  std::string tried;
  for (const std::string& name : names) {
    try {
      return SharedLibrary(name, SharedLibrary::Stay::until_exit);
    } catch (const Unavailable& failure) {
      tried += fmt::format("\n  {}", failure.what());
    }
  }
  throw Unavailable(fmt::format(
      "the CUDA driver was not found; it comes with NVIDIA's GPU driver, and a container needs to "
      "be given it. Tried:{}",
      tried));
}

template <typename Function>
Function find_function(const SharedLibrary& library, const char* name) {
  try {
    return library.function<Function>(name);
  } catch (const Unavailable&) {
    return nullptr;
  }
}

}  // namespace

Driver::Driver(const std::vector<std::string>& names) : library_(open_driver(names)) {
#define VNJIT_RESOLVE(name) name = library_.function<decltype(name)>(VNJIT_TEXT(name));
  VNJIT_DRIVER_FUNCTIONS(VNJIT_RESOLVE)
#undef VNJIT_RESOLVE
#define VNJIT_FIND(name) name = find_function<decltype(name)>(library_, VNJIT_TEXT(name));
  VNJIT_OPTIONAL_DRIVER_FUNCTIONS(VNJIT_FIND)
#undef VNJIT_FIND
  // Its second version came with CUDA 12.8 and has the same signature; the first is everywhere.
  cuEventElapsedTime = library_.function<decltype(cuEventElapsedTime)>("cuEventElapsedTime");

  static const ForkGuard since_first_opened;
  if (since_first_opened.forked()) refuse_forked();
  if (const CUresult result = cuInit(0); result != CUDA_SUCCESS) {
    throw Unavailable(fmt::format("the CUDA driver {} does not start: cuInit returned {}",
                                  path().string(), describe(result)));
  }
  int version = 0;
  check(cuDriverGetVersion(&version), "cuDriverGetVersion");
  version_ = {version / 1000, version % 1000 / 10};
}

void Driver::refuse_forked() {
  throw Unavailable(
      "this process was forked after CUDA was initialized, and CUDA does not work in it; use CUDA "
      "only after the fork, or begin a new program with exec");
}

std::string Driver::describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (result == CUDA_ERROR_STUB_LIBRARY) {  // a stub names nothing, not even this
    return "CUDA_ERROR_STUB_LIBRARY (a toolkit's stub for linking, not a driver)";
  }
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name) {
    return fmt::format("CUresult {}", static_cast<int>(result));
  }
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text) return name;
  return fmt::format("{} ({})", name, text);
}

void Driver::fail(CUresult result, std::string_view call) const {
  throw CudaError(fmt::format("{} failed: {}", call, describe(result)), static_cast<int>(result));
}

}  // namespace vnjit
