#include <cuda.h>
#include <gtest/gtest.h>

#include <new>

#include "vnjit/runtime/c_api/error.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit::c_api {
namespace {

vnjit_error new_error() {
  vnjit_error error;
  vnjit_error_init(&error);
  return error;
}

template <typename Exception>
vnjit_error reported(const Exception& exception) {
  vnjit_error error = new_error();
  const vnjit_status status = guarded(&error, [&] { throw exception; });
  EXPECT_EQ(status, error.status);
  return error;
}

void expect(const vnjit_error& error, vnjit_status status, const std::string& message) {
  EXPECT_EQ(error.status, status);
  EXPECT_EQ(error.message, message);
}

TEST(CApiError, EachExceptionHasAStatusAndKeepsItsMessage) {
  expect(reported(InvalidArgument("a")), VNJIT_ERROR_INVALID_ARGUMENT, "a");
  expect(reported(ConfigError("b")), VNJIT_ERROR_CONFIG, "b");
  expect(reported(CompileError("c", "log", "source")), VNJIT_ERROR_COMPILE, "c");
  expect(reported(CudaError("d", CUDA_ERROR_INVALID_VALUE)), VNJIT_ERROR_CUDA, "d");
  expect(reported(Unavailable("e")), VNJIT_ERROR_UNAVAILABLE, "e");
  expect(reported(std::bad_alloc()), VNJIT_ERROR_OUT_OF_MEMORY, "out of memory");
  expect(reported(Error("f")), VNJIT_ERROR_INTERNAL, "f");
  expect(reported(std::runtime_error("g")), VNJIT_ERROR_INTERNAL, "g");
  expect(reported(42), VNJIT_ERROR_INTERNAL, "an exception of unknown type");
}

TEST(CApiError, ADriverCallLeavesItsResult) {
  EXPECT_EQ(reported(CudaError("d", CUDA_ERROR_INVALID_VALUE)).cuda_result,
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(reported(Unavailable("e")).cuda_result, 0);
}

TEST(CApiError, GpuMemoryThatRunsOutIsOutOfMemory) {
  const vnjit_error error = reported(CudaError("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY));
  expect(error, VNJIT_ERROR_OUT_OF_MEMORY, "cuMemAlloc");
  EXPECT_EQ(error.cuda_result, CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(CApiError, SuccessClearsWhatAnEarlierCallLeft) {
  vnjit_error error = reported(CudaError("d", CUDA_ERROR_INVALID_VALUE));
  EXPECT_EQ(guarded(&error, [] {}), VNJIT_OK);
  expect(error, VNJIT_OK, "");
  EXPECT_EQ(error.cuda_result, 0);
}

TEST(CApiError, MayBeNull) {
  EXPECT_EQ(guarded(nullptr, [] { throw ConfigError("b"); }), VNJIT_ERROR_CONFIG);
  EXPECT_EQ(guarded(nullptr, [] {}), VNJIT_OK);
}

TEST(CApiError, ThatWasNotInitializedIsNotWritten) {
  vnjit_error error = new_error();
  error.struct_size = sizeof(error) - 8;
  error.status = -5;
  EXPECT_EQ(guarded(&error, [] { throw ConfigError("b"); }), VNJIT_ERROR_CONFIG);
  EXPECT_EQ(error.status, -5);
  EXPECT_STREQ(error.message, "");
}

TEST(CApiError, OfALaterVersionKeepsWhatIsNotKnown) {
  struct Later {
    vnjit_error known;
    std::int64_t appended;
  };
  Later later{new_error(), 77};
  later.known.struct_size = sizeof(later);
  EXPECT_EQ(guarded(&later.known, [] { throw ConfigError("b"); }), VNJIT_ERROR_CONFIG);
  expect(later.known, VNJIT_ERROR_CONFIG, "b");
  EXPECT_EQ(later.appended, 77);
}

constexpr std::size_t kRoom = VNJIT_MESSAGE_CAPACITY - 1;

TEST(CApiError, AMessageThatJustFitsIsWhole) {
  const std::string message(kRoom, 'x');
  expect(reported(Error(message)), VNJIT_ERROR_INTERNAL, message);
}

TEST(CApiError, ALongerMessageIsCut) {
  expect(reported(Error(std::string(kRoom + 1, 'x'))), VNJIT_ERROR_INTERNAL,
         std::string(kRoom, 'x'));
}

TEST(CApiError, AMessageIsCutBeforeACharacterThatWouldBeSplit) {
  for (const std::string character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x99\x82"}) {
    for (std::size_t inside = 1; inside < character.size(); ++inside) {
      const std::string before(kRoom - inside, 'x');
      expect(reported(Error(before + character + "end")), VNJIT_ERROR_INTERNAL, before);
    }
    const std::string before(kRoom - character.size(), 'x');
    expect(reported(Error(before + character + "end")), VNJIT_ERROR_INTERNAL, before + character);
  }
}

TEST(CApiError, AMessageThatIsNoUtf8LosesNoMoreThanACharacter) {
  const std::string message(2 * kRoom, '\x80');
  EXPECT_EQ(std::string(reported(Error(message)).message).size(), kRoom - 4);
}

TEST(CApiStatus, NamesItsConstant) {
  EXPECT_STREQ(vnjit_status_name(VNJIT_OK), "VNJIT_OK");
  EXPECT_STREQ(vnjit_status_name(VNJIT_ERROR_INVALID_ARGUMENT), "VNJIT_ERROR_INVALID_ARGUMENT");
  EXPECT_STREQ(vnjit_status_name(VNJIT_ERROR_CONFIG), "VNJIT_ERROR_CONFIG");
  EXPECT_STREQ(vnjit_status_name(VNJIT_ERROR_COMPILE), "VNJIT_ERROR_COMPILE");
  EXPECT_STREQ(vnjit_status_name(VNJIT_ERROR_CUDA), "VNJIT_ERROR_CUDA");
  EXPECT_STREQ(vnjit_status_name(VNJIT_ERROR_UNAVAILABLE), "VNJIT_ERROR_UNAVAILABLE");
  EXPECT_STREQ(vnjit_status_name(VNJIT_ERROR_OUT_OF_MEMORY), "VNJIT_ERROR_OUT_OF_MEMORY");
  EXPECT_STREQ(vnjit_status_name(VNJIT_ERROR_INTERNAL), "VNJIT_ERROR_INTERNAL");
  EXPECT_STREQ(vnjit_status_name(8), "unknown status");
  EXPECT_STREQ(vnjit_status_name(-1), "unknown status");
}

}  // namespace
}  // namespace vnjit::c_api
