#include <stdio.h>
#include <vnjit/vnjit.h>

_Static_assert(VNJIT_VERSION == PACKAGE_VERSION, "header and package differ in their version");

int main(void) {
  if (vnjit_version() != VNJIT_VERSION) return 1;
  vnjit_error error = {.struct_size = sizeof(vnjit_error)};
  vnjit_runtime* runtime = NULL;
  if (vnjit_runtime_create(NULL, &runtime, &error) != VNJIT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  vnjit_runtime_destroy(runtime);

  vnjit_noise noise;
  float value = 0;
  if (vnjit_parse_noise("philox:rademacher", &noise, &error) != VNJIT_OK) return 1;
  if (vnjit_fill_noise(&noise, 7, 0, 1, &value, &error) != VNJIT_OK) return 1;
  return value == 1.0f || value == -1.0f ? 0 : 1;
}
