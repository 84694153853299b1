#include "vnjit/runtime/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

std::filesystem::path loaded_path(void* handle, const std::filesystem::path& name) {
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name) return name;
  return map->l_name;
}

std::string loader_reason() {
  const char* reason = dlerror();
  return reason ? reason : "the loader gives no reason";
}

}  // namespace

SharedLibrary::SharedLibrary(const std::filesystem::path& name, Stay stay)
    : handle_(dlopen(name.c_str(),
                     RTLD_NOW | RTLD_LOCAL | (stay == Stay::until_exit ? RTLD_NODELETE : 0))) {
  if (!handle_) {
    throw Unavailable(fmt::format("cannot open {}: {}", name.string(), loader_reason()));
  }
  path_ = loaded_path(handle_, name);
}

SharedLibrary::~SharedLibrary() {
  if (handle_) dlclose(handle_);
}

void* SharedLibrary::symbol(const char* name) const {
  void* address = dlsym(handle_, name);
  if (!address) throw Unavailable(fmt::format("{} has no function {}", path_.string(), name));
  return address;
}

}  // namespace vnjit
