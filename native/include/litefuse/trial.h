// Kernels of ops that the runtime's delegates have kernels of too: they claim only the nodes that they take.
#ifndef LITEFUSE_TRIAL_H_
#define LITEFUSE_TRIAL_H_

#include "litefuse/kernel.h"
#include "litefuse/tflite.h"

namespace litefuse {

// Says that a kernel is such a one; see LITEFUSE_DEFINE_SHARED_KERNEL.
void MarkShared(const TfLiteRegistration* kernel);

// Whether a kernel leaves a node to the runtime: it is such a one, and fails to prepare the node, or gives an output
// another shape than the model declares. Found out by making a kernel and preparing it without telling the runtime: no
// tensor changes, no error is reported.
bool Leaves(const TfLiteRegistration* kernel, TfLiteContext* context, const TfLiteNode& node, const char* options,
            size_t size);

}  // namespace litefuse

// LITEFUSE_DEFINE_KERNEL for an op that XNNPACK, say, runs in some forms under the same name.
#define LITEFUSE_DEFINE_SHARED_KERNEL(name, Class)                                           \
  namespace {                                                                                \
  LITEFUSE_DEFINE_KERNEL_AS(Own##name, #name, Class)                                         \
  }                                                                                          \
  extern "C" const TfLiteRegistration* litefuse_register_##name(void) {                      \
    static const TfLiteRegistration* const registration = [] {                               \
      const TfLiteRegistration* made = Own##name();                                          \
      litefuse::MarkShared(made);                                                            \
      return made;                                                                           \
    }();                                                                                     \
    return registration;                                                                     \
  }

#endif  // LITEFUSE_TRIAL_H_
