// Which kernels a library has: its delegate runs these.
#ifndef LITEFUSE_REGISTRY_H_
#define LITEFUSE_REGISTRY_H_

#include "litefuse/tflite.h"

namespace litefuse {

struct RegisteredKernel {
  const char* name;
  const TfLiteRegistration* (*get)(void);
  const TfLiteRegistration* registration = nullptr;  // in the place of `get`, which is null then
};

// Defined once in each library; ended by an entry without a name.
const RegisteredKernel* RegisteredKernels();

}  // namespace litefuse

#endif  // LITEFUSE_REGISTRY_H_
