#include "vnjit/runtime/c_api/error.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <new>

#include "vnjit/runtime/c_api/structs.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit::c_api {
namespace {

constexpr std::size_t kLongestCharacter = 4;  // bytes of UTF-8

bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

/// Bytes of `text` that fit `capacity`, without the start of a character whose end does not.
std::size_t fitting_bytes(std::string_view text, std::size_t capacity) {
  if (text.size() <= capacity) return text.size();
  std::size_t end = capacity;
  while (end > 0 && capacity - end < kLongestCharacter && is_inside_character(text[end])) --end;
  return end;
}

}  // namespace

vnjit_status report(vnjit_error* error, vnjit_status status, std::string_view message,
                    int cuda_result) noexcept {
  if (error == nullptr || error->struct_size < kInfo<vnjit_error>.first_size) return status;
  const std::size_t bytes = fitting_bytes(message, sizeof(error->message) - 1);
  error->status = status;
  error->cuda_result = cuda_result;
  message.copy(error->message, bytes);
  error->message[bytes] = '\0';
  return status;
}

vnjit_status report_exception(vnjit_error* error) noexcept {
  try {
    throw;
  } catch (const InvalidArgument& refusal) {
    return report(error, VNJIT_ERROR_INVALID_ARGUMENT, refusal.what());
  } catch (const ConfigError& refusal) {
    return report(error, VNJIT_ERROR_CONFIG, refusal.what());
  } catch (const CompileError& refusal) {
    return report(error, VNJIT_ERROR_COMPILE, refusal.what());
  } catch (const CudaError& failure) {
    return report(
        error,
        failure.result() == CUDA_ERROR_OUT_OF_MEMORY ? VNJIT_ERROR_OUT_OF_MEMORY : VNJIT_ERROR_CUDA,
        failure.what(), failure.result());
  } catch (const Unavailable& failure) {
    return report(error, VNJIT_ERROR_UNAVAILABLE, failure.what());
  } catch (const std::bad_alloc&) {
    return report(error, VNJIT_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& failure) {
    return report(error, VNJIT_ERROR_INTERNAL, failure.what());
  } catch (...) {
    return report(error, VNJIT_ERROR_INTERNAL, "an exception of unknown type");
  }
}

void refuse_null(std::string_view name) {
  throw InvalidArgument(fmt::format("{} is null; it must be given", name));
}

}  // namespace vnjit::c_api
