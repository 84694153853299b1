#include "vnjit/runtime/tune/record_store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <system_error>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/noise_spec.hpp"
#include "vnjit/runtime/cache_folder.hpp"
#include "vnjit/runtime/hash.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;

struct Size {
  std::string_view name;
  std::int64_t value;
};

std::vector<Size> sizes_of(const Problem& problem) {
  if (const auto* linear = std::get_if<PerturbedLinear>(&problem)) {
    return {
        {"pop", linear->pop}, {"batch", linear->batch}, {"in", linear->in}, {"out", linear->out}};
  }
  if (const auto* gradient = std::get_if<Gradient>(&problem)) {
    return {{"pop", gradient->pop}, {"rows", gradient->rows}, {"columns", gradient->columns}};
  }
  const auto& reduce = std::get<ReduceMetric>(problem);
  return {{"pop", reduce.pop}, {"params", reduce.params}};
}

/// What records must have in common to be used for each other's sizes.
std::string kind_of(const Problem& problem, const DeviceLimits& limits) {
  const Problem kind = without_sizes(problem);
  return hash128_hex(fmt::format("record {} contract {} {} bake {} arch {} sms {} shared {} {} {}",
                                 kRecordVersion, noise_contract_version(), command_flags(kind),
                                 std::visit(
                                     [](const auto& p) {
                                       if constexpr (requires { p.bake_shape; }) {
                                         return p.bake_shape ? fmt::format("{}x{}", p.in, p.out)
                                                             : std::string("no");
                                       } else {
                                         return std::string("no");
                                       }
                                     },
                                     kind),
                                 limits.arch(), limits.sm_count, limits.shared_per_block,
                                 limits.shared_per_block_optin, limits.shared_per_sm))
      .substr(0, 16);
}

std::string file_name(std::string_view kind, const std::vector<Size>& sizes) {
  std::string name(kind);
  for (const Size& size : sizes) name += fmt::format("-{}{}", size.name, size.value);
  return name + ".json";
}

/// The sizes in a record's file name, in the order of `like`; none where it has others.
std::optional<std::vector<std::int64_t>> sizes_in(std::string_view name,
                                                  const std::vector<Size>& like) {
  std::vector<std::int64_t> values;
  for (const Size& size : like) {
    if (!name.starts_with('-')) return std::nullopt;
    name.remove_prefix(1);
    if (!name.starts_with(size.name)) return std::nullopt;
    name.remove_prefix(size.name.size());
    std::int64_t value = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), value);
    if (parsed.ec != std::errc() || value < 0) return std::nullopt;
    name.remove_prefix(static_cast<std::size_t>(parsed.ptr - name.data()));
    values.push_back(value);
  }
  return name == ".json" ? std::optional(values) : std::nullopt;
}

/// How far apart sizes are: in octaves, summed.
double distance(const std::vector<std::int64_t>& sizes, const std::vector<Size>& from) {
  double sum = 0;
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    if (sizes[n] == from[n].value) continue;
    if (sizes[n] == 0 || from[n].value == 0) return HUGE_VAL;
    sum += std::abs(std::log2(static_cast<double>(sizes[n]) / static_cast<double>(from[n].value)));
  }
  return sum;
}

bool is_valid(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  try {
    validate(config, problem, limits);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

}  // namespace

RecordStore::RecordStore(fs::path folder, Report report)
    : folder_(std::move(folder)), report_(std::move(report)) {}

std::string record_file_name(const Problem& problem, const DeviceLimits& limits) {
  return file_name(kind_of(problem, limits), sizes_of(problem));
}

void RecordStore::tell_once(const std::string& file, std::string_view what) {
  if (!told_.insert(file).second || !report_) return;
  report_(Severity::warning, fmt::format("the tuning record {} is not used: {}", file, what));
}

/// Needs the mutex. A folder that is looked into within a second of its last change may change
/// again without showing it.
void RecordStore::renew_index() {
  struct stat status {};
  if (::stat(folder_.path().c_str(), &status) != 0) {
    names_.clear();
    seen_ = {};
    return;
  }
  const timespec changed = status.st_mtim;
  const bool settled = std::time(nullptr) > changed.tv_sec + 1;
  if (settled && seen_.tv_sec == changed.tv_sec && seen_.tv_nsec == changed.tv_nsec) return;
  seen_ = settled ? changed : timespec{};
  names_.clear();
  records_.clear();
  if (const std::string why = folder_.why_unusable(); !why.empty()) {
    tell_once(folder_.path().string(), why);
    return;
  }
  std::error_code failed;
  for (fs::directory_iterator entry(folder_.path(), failed), end; entry != end;
       entry.increment(failed)) {
    names_.insert(entry->path().filename().string());
    if (failed) break;
  }
}

/// Needs the mutex. Null where the file holds no record that may be used.
const TuningRecord* RecordStore::read(const std::string& name, const std::string& kind) {
  const auto known = records_.find(name);
  if (known != records_.end()) return known->second ? &*known->second : nullptr;
  std::optional<TuningRecord>& record = records_[name];
  const fs::path path = folder_.path() / name;
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  try {
    TuningRecord found = tuning_record_from_json(text);
    if (found.contract_version != noise_contract_version() ||
        record_file_name(found.problem, found.limits) != name ||
        kind_of(found.problem, found.limits) != kind) {
      throw InvalidArgument("its content is not what its name says");
    }
    record = std::move(found);
  } catch (const Error& error) {
    tell_once(path.string(), error.what());
    return nullptr;
  }
  return &*record;
}

std::optional<RecordStore::Match> RecordStore::find(const Problem& problem,
                                                    const DeviceLimits& limits) {
  if (folder_.path().empty()) return std::nullopt;
  const std::string kind = kind_of(problem, limits);
  const std::vector<Size> sizes = sizes_of(problem);
  const std::lock_guard lock(mutex_);
  renew_index();
  std::vector<std::pair<double, std::string>> near;
  for (auto name = names_.lower_bound(kind); name != names_.end() && name->starts_with(kind);
       ++name) {
    const auto there = sizes_in(std::string_view(*name).substr(kind.size()), sizes);
    const double far = there ? distance(*there, sizes) : HUGE_VAL;
    if (far <= kFarthest) near.emplace_back(far, *name);
  }
  std::ranges::sort(near);
  for (const auto& [far, name] : near) {
    const TuningRecord* record = read(name, kind);
    if (!record || !is_valid(record->config, problem, limits)) continue;
    return Match{.record = *record, .exact = far == 0, .file = folder_.path() / name};
  }
  return std::nullopt;
}

fs::path RecordStore::put(const TuningRecord& record) {
  if (folder_.path().empty()) throw Error("there is no cache folder to keep a tuning record in");
  const fs::path file = folder_.path() / record_file_name(record.problem, record.limits);
  const auto require = [&](int error) {
    if (error == 0) return;
    throw Error(fmt::format("the tuning record {} cannot be written: {}", file.string(),
                            std::generic_category().message(error)));
  };
  const std::lock_guard lock(mutex_);
  require(folder_.create());
  if (const std::string why = folder_.why_unusable(); !why.empty()) {
    throw Error(fmt::format("the folder of tuning records {} cannot be used: {}",
                            folder_.path().string(), why));
  }
  require(publish_file(file, to_json(record)));
  seen_ = {};
  return file;
}

}  // namespace vnjit
