#include "vnjit/runtime/shared_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "temp_dir.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;
using testing::Not;

// A library that comes with the C library and that nothing here uses.
constexpr const char* kUnusedLibrary = "libBrokenLocale.so.1";

template <typename F>
std::string refusal_of(F call) {
  try {
    call();
  } catch (const Unavailable& refusal) {
    return refusal.what();
  }
  return "nothing was refused";
}

TEST(SharedLibrary, GivesFunctionsAndThePathItCameFrom) {
  const SharedLibrary library("libm.so.6");
  EXPECT_EQ(library.function<double (*)(double)>("floor")(2.5), 2.0);
  EXPECT_TRUE(library.path().is_absolute());
  EXPECT_TRUE(std::filesystem::exists(library.path()));
  EXPECT_EQ(library.path().filename(), "libm.so.6");
}

TEST(SharedLibrary, AMissingLibraryIsNamedWithTheLoadersReason) {
  EXPECT_THAT(refusal_of([] { SharedLibrary("libvnjit_absent.so.1"); }),
              testing::StartsWith("cannot open libvnjit_absent.so.1: libvnjit_absent.so.1: "));
}

TEST(SharedLibrary, AFileThatIsNoLibraryIsNamed) {
  const tests::TempDir folder;
  tests::write_file(folder / "lib x.so", "not an ELF file");
  EXPECT_THAT(refusal_of([&] { SharedLibrary(folder / "lib x.so"); }),
              HasSubstr((folder / "lib x.so").string()));
}

TEST(SharedLibrary, AMissingFunctionIsNamedWithItsLibrary) {
  const SharedLibrary library("libm.so.6");
  EXPECT_EQ(refusal_of([&] { library.symbol("vnjit_absent"); }),
            library.path().string() + " has no function vnjit_absent");
}

TEST(SharedLibrary, LeavesTheProcessWhenItsLastOwnerIsGone) {
  ASSERT_THAT(tests::read_file("/proc/self/maps"), Not(HasSubstr(kUnusedLibrary)));
  std::optional<SharedLibrary> owner;
  {
    SharedLibrary first(kUnusedLibrary);
    owner.emplace(std::move(first));
  }
  EXPECT_THAT(tests::read_file("/proc/self/maps"), HasSubstr(kUnusedLibrary));
  EXPECT_EQ(owner->path().filename(), kUnusedLibrary);
  owner.reset();
  EXPECT_THAT(tests::read_file("/proc/self/maps"), Not(HasSubstr(kUnusedLibrary)));
}

TEST(SharedLibrary, CanStayUntilExit) {
  constexpr const char* kLibrary = "libanl.so.1";
  ASSERT_THAT(tests::read_file("/proc/self/maps"), Not(HasSubstr(kLibrary)));
  { const SharedLibrary library(kLibrary, SharedLibrary::Stay::until_exit); }
  EXPECT_THAT(tests::read_file("/proc/self/maps"), HasSubstr(kLibrary));
}

}  // namespace
}  // namespace vnjit
