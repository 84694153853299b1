#include "vnjit/runtime/kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "vnjit/runtime/compiler.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;

constexpr const char* kReverse =
    "extern \"C\" __global__ void reverse(int* x) {\n"
    "  extern __shared__ int tile[];\n"
    "  int* last = tile + KEPT_BACK;\n"
    "  last[threadIdx.x] = x[threadIdx.x];\n"
    "  __syncthreads();\n"
    "  x[threadIdx.x] = last[blockDim.x - 1 - threadIdx.x];\n"
    "}\n";

/// Destroyed at exit. First asked for before the driver is opened, so destroyed after the driver
/// shut down.
std::unique_ptr<Kernel>& kernel_until_exit() {
  static std::unique_ptr<Kernel> kernel;
  return kernel;
}

/// A driver with the primary context of GPU 0 current; skips where there is none.
class KernelTest : public testing::Test {
 protected:
  void SetUp() override {
    kernel_until_exit();
    try {
      driver = std::make_shared<const Driver>();
    } catch (const Unavailable& reason) {
      GTEST_SKIP() << "no GPU: " << reason.what();
    }
    driver->check(driver->cuDeviceGet(&device, 0), "cuDeviceGet");
    driver->check(driver->cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    driver->check(driver->cuCtxSetCurrent(context), "cuCtxSetCurrent");
  }
  void TearDown() override {
    if (!context) return;
    driver->cuCtxSetCurrent(nullptr);
    driver->cuDevicePrimaryCtxRelease(device);
  }
  int attribute(CUdevice_attribute which) const {
    int value = 0;
    driver->check(driver->cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  }
  /// The kernel `reverse`, which uses the last of `shared_bytes`, for this GPU.
  Binary reverse(int shared_bytes, int threads) const {
    const std::string arch =
        "sm_" + std::to_string(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) +
        std::to_string(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    Options options = Options::from_environment();
    options.cache_dir.clear();
    return Compiler(options)
        .compile({.entry = "reverse",
                  .text = "#define KEPT_BACK " + std::to_string(shared_bytes / 4 - threads) + "\n" +
                          kReverse,
                  .arch = arch,
                  .options = {"--gpu-architecture=" + arch}})
        .binary;
  }

  std::shared_ptr<const Driver> driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
};

TEST_F(KernelTest, RunsWithAllTheSharedMemoryABlockMayHave) {
  constexpr int kThreads = 256;
  const int most = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  ASSERT_GT(most, 48 * 1024);
  for (const int shared_bytes : {1024, 48 * 1024, most}) {
    const Kernel kernel(driver, reverse(shared_bytes, kThreads), shared_bytes);
    EXPECT_EQ(kernel.entry(), "reverse");
    EXPECT_EQ(kernel.context(), context);
    EXPECT_GT(kernel.usage().registers, 0);

    std::vector<int> values(kThreads);
    std::iota(values.begin(), values.end(), 0);
    const std::vector<int> expected(values.rbegin(), values.rend());
    const std::size_t bytes = values.size() * sizeof(int);
    CUdeviceptr data = 0;
    driver->check(driver->cuMemAlloc(&data, bytes), "cuMemAlloc");
    driver->check(driver->cuMemcpyHtoDAsync(data, values.data(), bytes, nullptr), "copy in");
    void* arguments[] = {&data};
    driver->check(
        driver->cuLaunchKernel(kernel.function(), 1, 1, 1, kThreads, 1, 1,
                               static_cast<unsigned>(shared_bytes), nullptr, arguments, nullptr),
        "cuLaunchKernel");
    driver->check(driver->cuMemcpyDtoHAsync(values.data(), data, bytes, nullptr), "copy out");
    driver->check(driver->cuStreamSynchronize(nullptr), "cuStreamSynchronize");
    driver->check(driver->cuMemFree(data), "cuMemFree");
    EXPECT_EQ(values, expected) << shared_bytes;
  }
}

TEST_F(KernelTest, MoreSharedMemoryThanABlockMayHaveIsRefused) {
  const int most = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  try {
    const Kernel kernel(driver, reverse(1024, 256), most + 1);
    FAIL() << "it was loaded";
  } catch (const CudaError& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr("cuFuncSetAttribute of reverse to " +
                                          std::to_string(most + 1) + " bytes of shared memory"));
    EXPECT_EQ(refusal.result(), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(KernelTest, WhatCannotBeLoadedIsNamed) {
  Binary binary = reverse(1024, 256);
  binary.entry = "forward";
  EXPECT_THROW(
      {
        try {
          const Kernel kernel(driver, binary, 0);
        } catch (const CudaError& refusal) {
          EXPECT_STREQ(refusal.what(),
                       "cuModuleGetFunction of forward failed: CUDA_ERROR_NOT_FOUND (named symbol "
                       "not found)");
          throw;
        }
      },
      CudaError);
  binary.cubin = std::string(1000, 'x');
  EXPECT_THROW(
      {
        try {
          const Kernel kernel(driver, binary, 0);
        } catch (const CudaError& refusal) {
          EXPECT_THAT(refusal.what(), HasSubstr("cuModuleLoadData of forward for sm_"));
          EXPECT_THAT(refusal.what(), HasSubstr("CUDA_ERROR_"));
          throw;
        }
      },
      CudaError);
}

TEST_F(KernelTest, IsUnloadedFromItsOwnContext) {
  auto kernel = std::make_unique<Kernel>(driver, reverse(1024, 256), 1024);
  driver->check(driver->cuCtxSetCurrent(nullptr), "cuCtxSetCurrent");
  kernel.reset();
  CUcontext current = context;
  driver->check(driver->cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  EXPECT_EQ(current, nullptr);
}

TEST_F(KernelTest, DriverErrorsCarryCallNameAndNumber) {
  CUdeviceptr data = 0;
  try {
    driver->check(driver->cuMemAlloc(&data, std::size_t{1} << 60), "cuMemAlloc(2^60 bytes)");
    FAIL() << "it was allocated";
  } catch (const CudaError& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "cuMemAlloc(2^60 bytes) failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
    EXPECT_EQ(refusal.result(), CUDA_ERROR_OUT_OF_MEMORY);
  }
  EXPECT_EQ(driver->describe(static_cast<CUresult>(998)), "CUresult 998");
}

TEST_F(KernelTest, KnowsItsDriver) {
  EXPECT_GE(driver->version().major, 12);
  EXPECT_TRUE(std::filesystem::exists(driver->path()));
}

TEST_F(KernelTest, MayOutliveTheDriverAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        kernel_until_exit() = std::make_unique<Kernel>(driver, reverse(1024, 256), 1024);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vnjit
