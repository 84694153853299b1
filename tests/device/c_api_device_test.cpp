#include <cuda.h>
#include <gmock/gmock.h>

#include "device_test.hpp"
#include "runtime/c_api_fixture.hpp"

namespace vnjit::tests {
namespace {

using testing::HasSubstr;

/// Memory of a device, through the C API.
class CBuffer {
 public:
  template <typename T>
  CBuffer(vnjit_device* device, const std::vector<T>& host)
      : device_(device), bytes_(host.size() * sizeof(T)) {
    EXPECT_EQ(vnjit_device_allocate(device_, bytes_, &data_, nullptr), VNJIT_OK);
    EXPECT_EQ(vnjit_device_copy_in(device_, data_, host.data(), bytes_, nullptr, nullptr),
              VNJIT_OK);
  }
  ~CBuffer() { vnjit_device_release(device_, data_); }
  CBuffer(const CBuffer&) = delete;
  CBuffer& operator=(const CBuffer&) = delete;

  template <typename T = void>
  T* data() const {
    return static_cast<T*>(data_);
  }
  std::vector<float> floats(void* stream) const {
    std::vector<float> host(bytes_ / sizeof(float));
    EXPECT_EQ(vnjit_device_copy_out(device_, host.data(), data_, bytes_, stream, nullptr),
              VNJIT_OK);
    return host;
  }

 private:
  vnjit_device* device_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

class CApiOnGpu : public CApiTest {
 protected:
  void SetUp() override {
    options.read_environment = 1;
    options.cache_dir = "";
    runtime = make_runtime();
    std::int32_t count = 0;
    ASSERT_EQ(vnjit_gpu_count(runtime.get(), &count, &error), VNJIT_OK) << error.message;
    if (count == 0) GTEST_SKIP() << "no GPU: " << error.message;
    vnjit_device* made = nullptr;
    ASSERT_EQ(vnjit_device_gpu(runtime.get(), 0, &made, &error), VNJIT_OK) << error.message;
    gpu.reset(made);
  }

  CDevice gpu;
};

TEST_F(CApiOnGpu, NamesTheDevice) {
  EXPECT_EQ(vnjit_device_is_gpu(gpu.get()), 1);
  EXPECT_EQ(vnjit_device_name(gpu.get()), shared_runtime().gpu(0)->name());
}

TEST_F(CApiOnGpu, RunsAPlanInAStreamAndGivesTheBitsOfTheCppApi) {
  const std::int64_t pop = 4, batch = 3, in = 64, out = 7;
  const auto x = normal_values(batch * in, 1);
  const auto weight = normal_values(out * in, 2);
  const auto bias = normal_values(out, 3);
  const auto seeds = random_seeds(pop, 4);
  Runtime& cpp_runtime = shared_runtime();
  const PerturbedLinear same{.pop = pop, .batch = batch, .in = in, .out = out};
  const std::vector<float> expected =
      virtual_perturbed_linear(cpp_runtime, cpp_runtime.gpu(0), same.noise, same.layout, x, weight,
                               bias, seeds, out, in, 0.5f, 640);

  vnjit_perturbed_linear problem;
  vnjit_perturbed_linear_init(&problem);
  problem.base.pop = pop;
  problem.batch = batch;
  problem.in = in;
  problem.out = out;
  vnjit_plan* made = nullptr;
  ASSERT_EQ(vnjit_plan_create(runtime.get(), gpu.get(), &problem.base, nullptr, &made, &error),
            VNJIT_OK)
      << error.message;
  const CPlan plan(made);
  const CBuffer x_there(gpu.get(), x), weight_there(gpu.get(), weight), bias_there(gpu.get(), bias);
  const CBuffer seeds_there(gpu.get(), seeds), sigma_there(gpu.get(), std::vector<float>{0.5f});
  const CBuffer y_there(gpu.get(), std::vector<float>(pop * batch * out, kNaN));
  vnjit_perturbed_linear_arguments arguments;
  vnjit_perturbed_linear_arguments_init(&arguments);
  arguments.base.sigma_pointer = sigma_there.data<float>();
  arguments.base.seeds = seeds_there.data<std::int64_t>();
  arguments.base.pop = pop;
  arguments.x = x_there.data();
  arguments.weight = weight_there.data();
  arguments.bias = bias_there.data();
  arguments.y = y_there.data();
  arguments.offset = 640;
  arguments.batch = batch;
  arguments.in = in;
  arguments.out = out;

  void* stream = nullptr;
  ASSERT_EQ(vnjit_device_create_stream(gpu.get(), &stream, &error), VNJIT_OK) << error.message;
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(vnjit_plan_run(plan.get(), &arguments.base, stream, nullptr, 0, &error), VNJIT_OK)
      << error.message;
  EXPECT_EQ(vnjit_device_synchronize(gpu.get(), stream, &error), VNJIT_OK) << error.message;
  EXPECT_EQ(bits_of(y_there.floats(stream)), bits_of(expected));
  vnjit_device_destroy_stream(gpu.get(), stream);
}

TEST_F(CApiOnGpu, MemoryThatIsNotThereIsOutOfMemory) {
  void* data = nullptr;
  EXPECT_THAT(refusal(vnjit_device_allocate(gpu.get(), std::size_t{1} << 50, &data, &error)),
              HasSubstr("VNJIT_ERROR_OUT_OF_MEMORY: "));
  EXPECT_EQ(error.cuda_result, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(data, nullptr);
}

TEST_F(CApiOnGpu, ADriverCallThatFailsIsACudaError) {
  const float value = 0;
  EXPECT_THAT(refusal(vnjit_device_copy_in(gpu.get(), reinterpret_cast<void*>(std::uintptr_t{16}),
                                           &value, sizeof(value), nullptr, &error)),
              testing::StartsWith("VNJIT_ERROR_CUDA: cuMemcpyHtoDAsync(4 bytes)"));
  EXPECT_EQ(error.cuda_result, CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace vnjit::tests
