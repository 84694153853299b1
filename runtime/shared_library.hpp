#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace vnjit {

/// A library opened at run time, with its symbols kept to itself. Move-only.
class SharedLibrary {
 public:
  /// Until when the library stays in the process.
  enum class Stay {
    until_closed,
    until_exit,  ///< for libraries that run threads of their own or leave exit handlers behind
  };

  /// Opens `name`: a path, or a file name that the loader searches for. Throws Unavailable with
  /// the loader's reason.
  explicit SharedLibrary(const std::filesystem::path& name, Stay stay = Stay::until_closed);
  SharedLibrary(SharedLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
  SharedLibrary& operator=(SharedLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~SharedLibrary();

  /// The file it was loaded from.
  const std::filesystem::path& path() const { return path_; }

  /// A function or variable of the library. Throws Unavailable naming both.
  void* symbol(const char* name) const;

  /// symbol() as a pointer of type F.
  template <typename F>
  F function(const char* name) const {
    return reinterpret_cast<F>(symbol(name));
  }

 private:
  void* handle_ = nullptr;
  std::filesystem::path path_;
};

}  // namespace vnjit
