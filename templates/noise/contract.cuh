#pragma once

namespace vnjit::noise {

/// Version of the noise contract: a change of any value any generator makes is a new version.
constexpr int kContractVersion = 1;

}  // namespace vnjit::noise
