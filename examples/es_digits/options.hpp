#pragma once

#include <memory>
#include <optional>
#include <string>

#include "training.hpp"

namespace es_digits {

/// The command line.
struct Options {
  Settings settings;
  std::string device = "auto";  ///< `auto`, `cpu` or the number of a GPU
  std::string arch = "sm_90";   ///< kernels are compiled for it where no GPU runs them
};

/// Throws vnjit::InvalidArgument, in one line, for what makes no sense. Nothing is returned when
/// the command line asks for help, which is then printed.
std::optional<Options> parse_options(int argc, char** argv, std::int64_t training_images);

/// The device named by Options::device. Throws vnjit::InvalidArgument for another name and
/// vnjit::Unavailable where there is no such GPU.
std::shared_ptr<vnjit::Device> open_device(vnjit::Runtime& runtime, const std::string& name);

}  // namespace es_digits
