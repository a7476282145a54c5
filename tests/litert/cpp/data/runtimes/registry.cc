#include "litefuse/registry.h"

#define KERNELS(X) X(Bincount) X(Doubled) X(Erf) X(ExtractImagePatches) X(Roll)
#define DECLARE(name) extern "C" const TfLiteRegistration* litefuse_register_##name(void);
KERNELS(DECLARE)

const litefuse::RegisteredKernel* litefuse::RegisteredKernels() {
#define ENTRY(name) {#name, litefuse_register_##name},
  static const RegisteredKernel kernels[] = {KERNELS(ENTRY){nullptr, nullptr}};
  return kernels;
}
