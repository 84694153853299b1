#include "vnjit/runtime/build_id.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/file_descriptor.hpp"
#include "vnjit/runtime/hash.hpp"

namespace vnjit {
namespace {

constexpr std::uint64_t kMaxNoteBytes = 1 << 20;
constexpr std::uint64_t kHashedBytes = 1 << 20;

/// `size` bytes from `offset` on; fewer where the file ends.
std::string read_part(const FileDescriptor& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(file.get(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

template <typename T>
std::optional<T> value_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::uint64_t padded(std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; }

std::optional<std::string> id_in_notes(std::string_view notes) {
  std::uint64_t offset = 0;
  while (const auto note = value_at<Elf64_Nhdr>(notes, offset)) {
    const std::uint64_t name = offset + sizeof(Elf64_Nhdr);
    const std::uint64_t id = name + padded(note->n_namesz);
    if (id + note->n_descsz > notes.size()) return std::nullopt;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz > 0 &&
        notes.substr(name, note->n_namesz) == std::string_view(ELF_NOTE_GNU, 4)) {
      return hexadecimal(notes.substr(id, note->n_descsz));
    }
    offset = id + padded(note->n_descsz);
  }
  return std::nullopt;
}

std::optional<std::string> elf_build_id(const FileDescriptor& file) {
  const std::string start = read_part(file, 0, sizeof(Elf64_Ehdr));
  const auto header = value_at<Elf64_Ehdr>(start, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr)) {
    return std::nullopt;
  }
  const std::string segments =
      read_part(file, header->e_phoff, std::uint64_t{header->e_phnum} * sizeof(Elf64_Phdr));
  std::uint64_t offset = 0;
  while (const auto segment = value_at<Elf64_Phdr>(segments, offset)) {
    offset += sizeof(Elf64_Phdr);
    if (segment->p_type != PT_NOTE) continue;
    const std::string notes =
        read_part(file, segment->p_offset, std::min(segment->p_filesz, kMaxNoteBytes));
    if (auto id = id_in_notes(notes)) return id;
  }
  return std::nullopt;
}

std::string content_id(const FileDescriptor& file, std::uint64_t size) {
  const std::uint64_t tail = size - std::min(size, kHashedBytes);
  return "xxh3:" + hash128_hex(fmt::format("{} {}{}", size, read_part(file, 0, kHashedBytes),
                                           read_part(file, tail, kHashedBytes)));
}

}  // namespace

std::string build_id(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    throw Unavailable(
        fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    throw Unavailable(fmt::format("{} is not a regular file", path.string()));
  }
  if (auto id = elf_build_id(file)) return *id;
  return content_id(file, static_cast<std::uint64_t>(status.st_size));
}

}  // namespace vnjit
