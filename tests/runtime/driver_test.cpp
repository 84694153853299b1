#include "vnjit/runtime/driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::vector<std::string>& names) {
  try {
    const Driver driver(names);
  } catch (const Unavailable& refusal) {
    return refusal.what();
  }
  return "nothing was refused";
}

TEST(Driver, AMissingDriverErrorListsWhatWasTried) {
  const std::string message = refusal_of({"libvnjit_absent.so.1", "libvnjit_absent.so"});
  EXPECT_THAT(message, HasSubstr("the CUDA driver was not found"));
  EXPECT_THAT(message, HasSubstr("\n  cannot open libvnjit_absent.so.1: "));
  EXPECT_THAT(message, HasSubstr("\n  cannot open libvnjit_absent.so: "));
}

TEST(Driver, ALibraryThatIsNoDriverIsNamedWithWhatItLacks) {
  const std::string message = refusal_of({"libvnjit_absent.so.1", "libm.so.6"});
  EXPECT_THAT(message, HasSubstr("libm.so.6 has no function cuInit"));
}

}  // namespace
}  // namespace vnjit
