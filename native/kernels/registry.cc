#include "litefuse/registry.h"

#include "litefuse/kernels.h"

const litefuse::RegisteredKernel* litefuse::RegisteredKernels() {
#define LITEFUSE_ENTRY(name) {#name, litefuse_register_##name},
  static const RegisteredKernel kernels[] = {LITEFUSE_KERNELS(LITEFUSE_ENTRY){nullptr, nullptr}};
#undef LITEFUSE_ENTRY
  return kernels;
}
