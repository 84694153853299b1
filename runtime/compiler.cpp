#include "vnjit/runtime/compiler.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "vnjit/codegen/noise_spec.hpp"
#include "vnjit/runtime/build_id.hpp"
#include "vnjit/runtime/find_nvrtc.hpp"
#include "vnjit/runtime/hash.hpp"

namespace vnjit {
namespace {

// A program that cannot use the disk and asks for more kernels than this compiles some again.
constexpr std::size_t kMaxInMemory = 256;

constexpr CudaVersion kFirstWithCache{12, 9};

std::vector<std::string> cubin_options(const KernelSource& source) {
  std::vector<std::string> options = source.options;
  options.emplace_back("--ptxas-options=-v");  // the resource report
  return options;
}

void append_field(std::string& bytes, std::string_view field) {
  bytes += fmt::format("{}:", field.size());
  bytes += field;
}

}  // namespace

std::string cache_key(const KernelSource& source, const std::string& nvrtc_identity) {
  std::string bytes = fmt::format("entry format {} noise contract {} ", kEntryFormatVersion,
                                  noise_contract_version());
  append_field(bytes, nvrtc_identity);
  append_field(bytes, source.arch);
  append_field(bytes, source.entry);
  append_field(bytes, source.text);
  for (const std::string& option : cubin_options(source)) append_field(bytes, option);
  return hash128_hex(bytes);
}

Compiler::Compiler(const Options& options)
    : options_(options),
      disk_(CacheFolder(options.cache_dir), options.report,
            {.lock_wait = options.cache_lock_wait, .bytes = options.cache_bytes}) {}

Compiler::Located Compiler::located() {
  const std::lock_guard lock(mutex_);
  if (!located_) {
    std::filesystem::path file = find_nvrtc(options_);
    std::string identity = build_id(file);
    located_ = Located{std::move(file), std::move(identity)};
  }
  return *located_;
}

std::shared_ptr<const Nvrtc> Compiler::nvrtc() {
  const std::filesystem::path file = located().file;
  const std::lock_guard lock(nvrtc_mutex_);
  if (!nvrtc_) nvrtc_ = std::make_shared<const Nvrtc>(file);
  return nvrtc_;
}

std::optional<Compiled> Compiler::find(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = memory_.find(key); found != memory_.end()) {
      return Compiled{.binary = found->second, .cache_hit = true, .cached_file = {}};
    }
  }
  auto binary = disk_.find(key);
  if (!binary) return std::nullopt;
  return Compiled{
      .binary = std::move(*binary), .cache_hit = true, .cached_file = disk_.entry_path(key)};
}

void Compiler::remember(const Binary& binary) {
  const std::lock_guard lock(mutex_);
  if (memory_.size() >= kMaxInMemory) memory_.erase(memory_.begin());
  memory_.emplace(binary.key, binary);
}

Compiled Compiler::compile(const KernelSource& generated) {
  KernelSource source = generated;
  if (const auto own = options_.sources.find(source.entry); own != options_.sources.end()) {
    source.text = own->second;
  }
  const std::string key = cache_key(source, located().identity);
  if (auto hit = find(key)) return std::move(*hit);

  const KeyLock among_threads(compiling_, key, options_.cache_lock_wait);
  const FileDescriptor among_processes = disk_.lock(key);
  if (auto hit = find(key)) return std::move(*hit);

  const auto compiler = nvrtc();
  std::vector<std::string> options = cubin_options(source);
  // NVRTC's own cache, where there is one, answers without the resource report.
  if (compiler->version() >= kFirstWithCache) options.emplace_back("--no-cache");
  Nvrtc::Output output = compiler->compile(source, options, Nvrtc::Target::cubin);
  Compiled compiled;
  compiled.binary = {.cubin = std::move(output.image),
                     .entry = source.entry,
                     .arch = source.arch,
                     .usage = parse_resource_usage(output.log),
                     .log = std::move(output.log),
                     .key = key};
  compiled.milliseconds = output.milliseconds;
  compiled.cached_file = disk_.publish(compiled.binary, source.text);
  if (compiled.cached_file.empty()) remember(compiled.binary);
  return compiled;
}

std::string Compiler::compile_to_ptx(const KernelSource& source) {
  return nvrtc()->compile(source, source.options, Nvrtc::Target::ptx).image;
}

}  // namespace vnjit
