#include "vnjit/runtime/nvrtc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvrtc.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "vnjit/runtime/error.hpp"

namespace vnjit {

struct Nvrtc::Functions {
  decltype(&::nvrtcGetErrorString) get_error_string;
  decltype(&::nvrtcVersion) version;
  decltype(&::nvrtcGetNumSupportedArchs) get_num_supported_archs;
  decltype(&::nvrtcGetSupportedArchs) get_supported_archs;
  decltype(&::nvrtcCreateProgram) create_program;
  decltype(&::nvrtcDestroyProgram) destroy_program;
  decltype(&::nvrtcCompileProgram) compile_program;
  decltype(&::nvrtcGetProgramLogSize) get_program_log_size;
  decltype(&::nvrtcGetProgramLog) get_program_log;
  decltype(&::nvrtcGetCUBINSize) get_cubin_size;
  decltype(&::nvrtcGetCUBIN) get_cubin;
  decltype(&::nvrtcGetPTXSize) get_ptx_size;
  decltype(&::nvrtcGetPTX) get_ptx;

  explicit Functions(const SharedLibrary& library) {
    const auto resolve = [&](auto& function, const char* name) {
      function = library.function<std::remove_reference_t<decltype(function)>>(name);
    };
    resolve(get_error_string, "nvrtcGetErrorString");
    resolve(version, "nvrtcVersion");
    resolve(get_num_supported_archs, "nvrtcGetNumSupportedArchs");
    resolve(get_supported_archs, "nvrtcGetSupportedArchs");
    resolve(create_program, "nvrtcCreateProgram");
    resolve(destroy_program, "nvrtcDestroyProgram");
    resolve(compile_program, "nvrtcCompileProgram");
    resolve(get_program_log_size, "nvrtcGetProgramLogSize");
    resolve(get_program_log, "nvrtcGetProgramLog");
    resolve(get_cubin_size, "nvrtcGetCUBINSize");
    resolve(get_cubin, "nvrtcGetCUBIN");
    resolve(get_ptx_size, "nvrtcGetPTXSize");
    resolve(get_ptx, "nvrtcGetPTX");
  }

  void check(nvrtcResult result, const char* call) const {
    if (result == NVRTC_SUCCESS) return;
    throw Unavailable(fmt::format("NVRTC failed: {} returned {}", call, get_error_string(result)));
  }
};

/// A program of NVRTC's, destroyed with this.
class Nvrtc::Program {
 public:
  Program(const Functions& functions, const KernelSource& source) : functions_(functions) {
    functions_.check(functions_.create_program(&program_, source.text.c_str(),
                                               (source.entry + ".cu").c_str(), 0, nullptr, nullptr),
                     "nvrtcCreateProgram");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { functions_.destroy_program(&program_); }

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> arguments;
    for (const std::string& option : options) arguments.push_back(option.c_str());
    return functions_.compile_program(program_, static_cast<int>(arguments.size()),
                                      arguments.data());
  }

  std::string log() const {
    return text(functions_.get_program_log_size, functions_.get_program_log, "nvrtcGetProgramLog");
  }
  std::string ptx() const {
    return text(functions_.get_ptx_size, functions_.get_ptx, "nvrtcGetPTX");
  }
  std::string cubin() const {
    return bytes(functions_.get_cubin_size, functions_.get_cubin, "nvrtcGetCUBIN");
  }

 private:
  template <typename GetSize, typename Get>
  std::string bytes(GetSize get_size, Get get, const char* call) const {
    std::size_t size = 0;
    functions_.check(get_size(program_, &size), call);
    std::string result(size, '\0');
    functions_.check(get(program_, result.data()), call);
    return result;
  }

  template <typename GetSize, typename Get>
  std::string text(GetSize get_size, Get get, const char* call) const {
    std::string result = bytes(get_size, get, call);
    result.resize(std::min(result.find('\0'), result.size()));
    return result;
  }

  const Functions& functions_;
  nvrtcProgram program_ = nullptr;
};

// The library stays until exit: unloading 100 MB of compiler would only make the next kernel wait
// for it again.
Nvrtc::Nvrtc(const std::filesystem::path& file)
    : library_(file, SharedLibrary::Stay::until_exit),
      functions_(std::make_unique<const Functions>(library_)) {
  functions_->check(functions_->version(&version_.major, &version_.minor), "nvrtcVersion");
  int count = 0;
  functions_->check(functions_->get_num_supported_archs(&count), "nvrtcGetNumSupportedArchs");
  archs_.resize(static_cast<std::size_t>(count));
  functions_->check(functions_->get_supported_archs(archs_.data()), "nvrtcGetSupportedArchs");
  std::ranges::sort(archs_);
  open_builtins(file);
}

Nvrtc::~Nvrtc() = default;

// NVRTC opens its builtins by file name when it first compiles, and the loader then finds the
// library that is open already. Where it is not beside libnvrtc, NVRTC's own search may still
// find it.
void Nvrtc::open_builtins(const std::filesystem::path& file) {
  const std::string name =
      fmt::format("libnvrtc-builtins.so.{}.{}", version_.major, version_.minor);
  std::error_code failed;
  for (const auto& beside : {file, std::filesystem::canonical(file, failed)}) {
    const auto builtins = beside.parent_path() / name;
    if (!std::filesystem::exists(builtins, failed)) continue;
    builtins_.emplace(builtins, SharedLibrary::Stay::until_exit);
    return;
  }
}

void Nvrtc::require_arch(const KernelSource& source) const {
  std::vector<std::string> known;
  for (const int arch : archs_) known.push_back(fmt::format("sm_{}", arch));
  std::string base = source.arch;
  if (base.ends_with('a') || base.ends_with('f')) base.pop_back();
  if (std::ranges::find(known, base) != known.end()) return;
  throw Unavailable(fmt::format(
      "NVRTC {}.{} ({}) does not know {}; it knows {}. Compile for one of these, or "
      "set VNJIT_NVRTC to a libnvrtc that knows it",
      version_.major, version_.minor, path().string(), source.arch, fmt::join(known, ", ")));
}

Nvrtc::Output Nvrtc::compile(const KernelSource& source, const std::vector<std::string>& options,
                             Target target) const {
  require_arch(source);
  Program program(*functions_, source);
  const auto start = std::chrono::steady_clock::now();
  const nvrtcResult result = program.compile(options);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;

  std::string log = program.log();
  if (result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
    throw Unavailable(fmt::format(
        "NVRTC {} cannot work without libnvrtc-builtins.so.{}.{}, which should lie beside it ({}): "
        "{}",
        path().string(), version_.major, version_.minor,
        builtins_ ? builtins_->path().string() + " was opened" : "no such file there", log));
  }
  if (result != NVRTC_SUCCESS) {
    throw CompileError(fmt::format("NVRTC {}.{} could not compile {} for {} ({}):\n{}",
                                   version_.major, version_.minor, source.entry, source.arch,
                                   functions_->get_error_string(result), log),
                       log, source.text);
  }
  return {target == Target::cubin ? program.cubin() : program.ptx(), std::move(log),
          elapsed.count()};
}

}  // namespace vnjit
