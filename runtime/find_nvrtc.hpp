#pragma once

#include <filesystem>

#include "vnjit/runtime/options.hpp"

namespace vnjit {

/// The libnvrtc to use, found without loading anything. options.nvrtc decides where it is given;
/// else the first of these places that holds one:
///   1. options.library_dirs
///   2. `cuda` beside the program: a toolkit (lib64, lib) or Python's wheels (nvidia/*/lib)
///   3. options.toolkit_dirs, then /usr/local/cuda
///   4. the loader's folders: those of /etc/ld.so.conf, then the system's own
///   5. Python's nvidia wheels: options.python_dirs, then the system's dist- and site-packages
/// A place takes its highest version, and a plain libnvrtc.so only where nothing else is. Throws
/// Unavailable naming everything that was tried.
std::filesystem::path find_nvrtc(const Options& options);

/// The same with another file system root for the places that options do not name, and with the
/// folder of the program.
std::filesystem::path find_nvrtc(const Options& options, const std::filesystem::path& root,
                                 const std::filesystem::path& program_dir);

}  // namespace vnjit
