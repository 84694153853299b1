#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/cuda_version.hpp"
#include "vnjit/runtime/shared_library.hpp"

namespace vnjit {

/// NVIDIA's run-time compiler, opened. Thread-safe; it needs no GPU and no driver.
class Nvrtc {
 public:
  enum class Target { cubin, ptx };

  struct Output {
    std::string image;  ///< the ELF image, or PTX text
    std::string log;
    double milliseconds = 0;  ///< of nvrtcCompileProgram alone
  };

  /// Opens the library at `file` and the libnvrtc-builtins beside it, so that it works whatever
  /// the loader's search path is. It stays in the process. Throws Unavailable.
  explicit Nvrtc(const std::filesystem::path& file);
  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  /// The file as the loader names it: by the first of its names that this process opened.
  const std::filesystem::path& path() const { return library_.path(); }
  CudaVersion version() const { return version_; }
  const std::vector<int>& supported_archs() const { return archs_; }  ///< 75 for sm_75; ascending

  /// Compiles with exactly the given options. Throws CompileError with the log when NVRTC refuses
  /// the source, Unavailable when it does not know source.arch or is not whole.
  Output compile(const KernelSource& source, const std::vector<std::string>& options,
                 Target target) const;

 private:
  struct Functions;
  class Program;

  void open_builtins(const std::filesystem::path& file);
  void require_arch(const KernelSource& source) const;

  SharedLibrary library_;
  std::optional<SharedLibrary> builtins_;
  std::unique_ptr<const Functions> functions_;
  CudaVersion version_;
  std::vector<int> archs_;
};

}  // namespace vnjit
