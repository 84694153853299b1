#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/disk_cache.hpp"
#include "vnjit/runtime/key_mutex.hpp"
#include "vnjit/runtime/nvrtc.hpp"
#include "vnjit/runtime/options.hpp"

namespace vnjit {

/// Source to binary, through the disk cache. Thread-safe. NVRTC is looked for at the first call
/// and opened only when something has to be compiled: a cache hit reads its identity alone.
class Compiler {
 public:
  explicit Compiler(const Options& options);

  /// The cached binary, or a compiled one, which is then cached on disk, or in memory where the
  /// disk cannot be used. Threads and processes that ask for one key at once compile it once.
  /// Throws CompileError, which caches nothing, or Unavailable.
  Compiled compile(const KernelSource& source);

  /// What kernels are put together from.
  const TemplateFiles& templates() const {
    return options_.templates ? *options_.templates : embedded_templates();
  }

  /// PTX text, not cached. Throws as compile().
  std::string compile_to_ptx(const KernelSource& source);

  /// The build id of NVRTC. Throws Unavailable.
  std::string nvrtc_identity() { return located().identity; }

  /// NVRTC, opened now if it is not yet. Throws Unavailable.
  std::shared_ptr<const Nvrtc> nvrtc();

 private:
  struct Located {
    std::filesystem::path file;
    std::string identity;  // build_id
  };
  Located located();
  std::optional<Compiled> find(const std::string& key);
  void remember(const Binary& binary);

  Options options_;
  DiskCache disk_;
  KeyMutex compiling_;
  std::mutex mutex_;  // of the next two
  std::optional<Located> located_;
  std::map<std::string, Binary> memory_;  // what the disk did not take
  std::mutex nvrtc_mutex_;  // of its own: hits do not wait for the library to be opened
  std::shared_ptr<const Nvrtc> nvrtc_;
};

/// Hash of everything a binary depends on: text, entry, architecture and options of the source,
/// the versions of noise contract and entry format, and NVRTC's identity. No paths, no times.
std::string cache_key(const KernelSource& source, const std::string& nvrtc_identity);

}  // namespace vnjit
