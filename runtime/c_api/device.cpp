#include "vnjit/runtime/c_api/handles.hpp"
#include "vnjit/runtime/c_api/results.hpp"

namespace vnjit::c_api {
namespace {

Device& device_of(vnjit_device* device) { return *required(device, "device").device; }

StreamHandle stream_of(void* stream) { return static_cast<StreamHandle>(stream); }

void check_data(const void* data, std::string_view name, std::size_t bytes) {
  if (data == nullptr && bytes != 0) refuse_null(name);
}

}  // namespace
}  // namespace vnjit::c_api

using namespace vnjit::c_api;

void vnjit_device_destroy(vnjit_device* device) { delete device; }

const char* vnjit_device_name(const vnjit_device* device) {
  return device == nullptr ? nullptr : device->device->name().c_str();
}

int32_t vnjit_device_is_gpu(const vnjit_device* device) {
  return device != nullptr && device->device->is_gpu();
}

vnjit_status vnjit_device_allocate(vnjit_device* device, size_t bytes, void** data,
                                   vnjit_error* error) {
  return guarded(error, [&] {
    auto& result = required(data, "data");
    result = device_of(device).allocate(bytes);
  });
}

void vnjit_device_release(vnjit_device* device, void* data) {
  if (device != nullptr) device->device->release(data);
}

vnjit_status vnjit_device_copy_in(vnjit_device* device, void* to_device, const void* from_host,
                                  size_t bytes, void* stream, vnjit_error* error) {
  return guarded(error, [&] {
    check_data(to_device, "to_device", bytes);
    check_data(from_host, "from_host", bytes);
    device_of(device).copy_in(to_device, from_host, bytes, stream_of(stream));
  });
}

vnjit_status vnjit_device_copy_out(vnjit_device* device, void* to_host, const void* from_device,
                                   size_t bytes, void* stream, vnjit_error* error) {
  return guarded(error, [&] {
    check_data(to_host, "to_host", bytes);
    check_data(from_device, "from_device", bytes);
    device_of(device).copy_out(to_host, from_device, bytes, stream_of(stream));
  });
}

vnjit_status vnjit_device_create_stream(vnjit_device* device, void** stream, vnjit_error* error) {
  return guarded(error, [&] {
    auto& result = required(stream, "stream");
    result = device_of(device).create_stream();
  });
}

void vnjit_device_destroy_stream(vnjit_device* device, void* stream) {
  if (device != nullptr) device->device->destroy_stream(stream_of(stream));
}

vnjit_status vnjit_device_synchronize(vnjit_device* device, void* stream, vnjit_error* error) {
  return guarded(error, [&] { device_of(device).synchronize(stream_of(stream)); });
}
