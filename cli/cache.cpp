#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/cache_archive.hpp"
#include "vnjit/runtime/options.hpp"

namespace vnjit::cli {
namespace {

namespace fs = std::filesystem;

struct CacheFlags {
  bool json = false;
  bool remove = false;
  bool force = false;
  std::string arch;
  std::string file;
};

CacheFolder cache_folder() {
  fs::path path = Options::from_environment().cache_dir;
  if (!path.empty()) return CacheFolder(std::move(path));
  throw Error("there is no cache folder: VNJIT_CACHE_DIR, XDG_CACHE_HOME and HOME name none");
}

/// The cache's folder, as long as it may be used.
CacheFolder usable_folder() {
  CacheFolder folder = cache_folder();
  const std::string why = folder.why_unusable();
  if (why.empty()) return folder;
  throw Error(fmt::format("the kernel cache {} cannot be used: {}", folder.path().string(), why));
}

/// An entry's binary, or why there is none.
struct Looked {
  std::optional<Binary> binary;
  std::string damage;
};

Looked look(const CacheFolder& folder, const std::string& key) {
  std::string why;
  const std::optional<std::string> bytes = folder.read(key, why);
  if (!bytes) return {.binary = {}, .damage = why.empty() ? "it is gone" : why};
  try {
    Binary binary = from_entry(*bytes);
    if (binary.key == key) return {.binary = std::move(binary), .damage = {}};
    return {.binary = {}, .damage = fmt::format("it is that of key {}", binary.key)};
  } catch (const Error& error) {
    return {.binary = {}, .damage = error.what()};
  }
}

std::string time_text(fs::file_time_type time) {
  const auto system = std::chrono::file_clock::to_sys(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(
                         std::chrono::time_point_cast<std::chrono::seconds>(system))));
}

std::string entry_line(const CacheEntry& entry, const Looked& looked, bool json) {
  const std::string used = time_text(entry.used);
  if (json) {
    nlohmann::ordered_json line = {{"key", entry.key}, {"bytes", entry.bytes}, {"used", used}};
    if (looked.binary) {
      line["arch"] = looked.binary->arch;
      line["entry"] = looked.binary->entry;
    } else {
      line["damage"] = looked.damage;
    }
    return line.dump() + '\n';
  }
  return fmt::format("{}  {:>9}  {}  {}\n", entry.key, entry.bytes, used,
                     looked.binary
                         ? fmt::format("{:<7} {}", looked.binary->arch, looked.binary->entry)
                         : fmt::format("damaged: {}", looked.damage));
}

int list(const CacheFlags& flags) {
  const CacheFolder folder = usable_folder();
  std::vector<CacheEntry> entries = folder.entries();
  std::int64_t bytes = 0;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    bytes += entry->bytes;
    write_output(entry_line(*entry, look(folder, entry->key), flags.json));
  }
  if (!flags.json) {
    write_output(fmt::format("{} kernels, {} bytes, {} tuning records in {}\n", entries.size(),
                             bytes, folder.records().size(), folder.path().string()));
  }
  return kOk;
}

/// Why a tuning record is none; empty where it is one.
std::string record_damage(const fs::path& record) {
  try {
    return nlohmann::json::accept(read_file(record.string())) ? "" : "it is not JSON";
  } catch (const FileError& error) {
    return error.what();
  }
}

int verify(const CacheFlags& flags) {
  const CacheFolder folder = usable_folder();
  int damaged = 0;
  const auto say = [&](const fs::path& file, const std::string& damage, bool removed) {
    ++damaged;
    write_output(fmt::format("{}: {}{}\n", file.string(), damage, removed ? "; removed" : ""));
  };
  const std::vector<CacheEntry> entries = folder.entries();
  for (const CacheEntry& entry : entries) {
    const Looked looked = look(folder, entry.key);
    if (looked.binary) continue;
    say(folder.entry_path(entry.key), looked.damage, flags.remove && folder.remove(entry.key));
  }
  const std::vector<fs::path> records = folder.records();
  for (const fs::path& record : records) {
    const std::string damage = record_damage(record);
    std::error_code failed;
    if (!damage.empty()) say(record, damage, flags.remove && fs::remove(record, failed));
  }
  write_output(fmt::format("{} kernels and {} tuning records looked at, {} damaged\n",
                           entries.size(), records.size(), damaged));
  return damaged == 0 ? kOk : kFailed;
}

int clear(const CacheFlags&) {
  const CacheFolder folder = usable_folder();
  std::int64_t bytes = 0;
  int kernels = 0;
  int records = 0;
  for (const CacheEntry& entry : folder.entries()) {
    if (!folder.remove(entry.key)) continue;
    ++kernels;
    bytes += entry.bytes;
  }
  for (const fs::path& record : folder.records()) {
    std::error_code failed;
    const auto size = fs::file_size(record, failed);
    if (!fs::remove(record, failed)) continue;
    ++records;
    bytes += static_cast<std::int64_t>(size);
  }
  folder.remove_leftovers(0);
  write_output(
      fmt::format("removed {} kernels and {} tuning records, {} bytes\n", kernels, records, bytes));
  const std::size_t left = folder.entries().size() + folder.records().size();
  if (left == 0) return kOk;
  throw Error(fmt::format("{} files in {} cannot be removed", left, folder.path().string()));
}

int export_to(const CacheFlags& flags) {
  const bool to_output = flags.file == "-";
  std::error_code failed;
  if (!to_output && !flags.force && fs::exists(flags.file, failed)) {
    throw InvalidArgument(fmt::format("{} exists; --force replaces it", flags.file));
  }
  const CacheExport made = export_cache(usable_folder(), flags.arch);
  if (to_output) {
    write_output(made.archive);
  } else {
    write_file(flags.file, made.archive);
  }
  write_note(fmt::format("exported {} kernels and {} tuning records, {} bytes", made.kernels,
                         made.records, made.archive.size()));
  if (made.damaged > 0) {
    write_note(fmt::format("{} damaged kernels were left out; vnjit cache verify names them",
                           made.damaged));
  }
  return kOk;
}

int import_from(const CacheFlags& flags) {
  const CacheFolder folder = usable_folder();
  const std::string archive = read_file(flags.file == "-" ? "/dev/stdin" : flags.file);
  const CacheImport done = import_cache(folder, archive);
  write_output(fmt::format("imported {} kernels and {} tuning records; {} were there already\n",
                           done.kernels, done.records, done.known));
  return kOk;
}

int print_path(const CacheFlags&) {
  write_output(cache_folder().path().string() + '\n');
  return kOk;
}

}  // namespace

Command add_cache(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cache", "Look after the kernels on disk");
  command->require_subcommand(0, 1);
  const auto flags = std::make_shared<CacheFlags>();
  const auto action = std::make_shared<std::function<int(const CacheFlags&)>>();
  const auto add = [&](const std::string& name, const std::string& text,
                       int (*run)(const CacheFlags&)) {
    CLI::App* subcommand = command->add_subcommand(name, text);
    subcommand->callback([action, run] { *action = run; });
    return subcommand;
  };
  const auto add_file = [&](CLI::App* subcommand, const std::string& text) {
    subcommand->add_option("FILE", flags->file, text)->required()->type_name("");
  };
  add("path", "Print the cache's folder, which need not exist", print_path);
  add("list", "One line a kernel, the last used first: key, bytes, last use, GPU, name", list)
      ->add_flag("--json", flags->json, "a JSON object a line")
      ->disable_flag_override();
  add("verify", "Read every kernel and tuning record; exit status 1 where one is damaged", verify)
      ->add_flag("--remove", flags->remove, "remove what is damaged")
      ->disable_flag_override();
  add("clear", "Remove every kernel and tuning record", clear);
  CLI::App* exporter =
      add("export", "Put kernels, sources and tuning records into one file", export_to);
  add_file(exporter, "the archive; - is standard output");
  exporter->add_option("--arch", flags->arch, "kernels for this GPU only, such as sm_90")
      ->type_name("ARCH");
  exporter->add_flag("--force", flags->force, "replace a file")->disable_flag_override();
  add_file(add("import", "Add what an archive holds, after checking all of it", import_from),
           "the archive; - is standard input");
  command->footer(
      "The cache lies in VNJIT_CACHE_DIR, else XDG_CACHE_HOME/vnjit, else HOME/.cache/vnjit.\n"
      "Example:\n"
      "  vnjit cache list");
  return {command, [flags, action] {
            if (*action) return (*action)(*flags);
            throw InvalidArgument("cache: use path, list, verify, clear, export or import");
          }};
}

}  // namespace vnjit::cli
