// Kernels in LiteRT's `CompiledModel`, for apps that are linked with LiteRT's library:
//
//   LiteRtEnvironment environment;
//   LiteRtCreateEnvironment(0, nullptr, &environment);
//   if (!litefuse::AddKernels(environment)) ...
//
// Each model that is compiled in this environment runs the custom ops and composites that this library has kernels for
// (litefuse/registry.h). LiteRT takes them as an accelerator, so that kernels see what they see in an interpreter; its
// interface of custom op kernels shows neither dtypes nor constants when it asks for shapes.
#ifndef LITEFUSE_COMPILED_MODEL_H_
#define LITEFUSE_COMPILED_MODEL_H_

#include "litefuse/delegate.h"

// Source of the declarations: litert/c/internal/litert_accelerator_registration.h and litert_delegate_wrapper.h of LiteRT,
// whose handles are pointers. An app that includes these headers too declares the same functions.
extern "C" {
#ifndef ODML_LITERT_LITERT_C_LITERT_COMMON_H_
typedef class LiteRtAcceleratorT* LiteRtAccelerator;
typedef const class LiteRtAcceleratorT* LiteRtAcceleratorConst;
typedef class LiteRtEnvironmentT* LiteRtEnvironment;
typedef class LiteRtDelegateWrapperT* LiteRtDelegateWrapper;
typedef struct LiteRtOptionsT* LiteRtOptions;
typedef int LiteRtHwAcceleratorSet;
typedef struct LiteRtApiVersion {
  int major;
  int minor;
  int patch;
} LiteRtApiVersion;
typedef enum { kLiteRtStatusOk = 0 } LiteRtStatus;
#endif
struct LiteRtRuntimeContext;
typedef struct TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegate;

LiteRtStatus LiteRtCreateAccelerator(LiteRtAccelerator* accelerator);
LiteRtStatus LiteRtSetAcceleratorGetName(LiteRtAccelerator accelerator,
                                         LiteRtStatus (*get)(LiteRtAcceleratorConst, const char** name));
LiteRtStatus LiteRtSetAcceleratorGetVersion(LiteRtAccelerator accelerator,
                                            LiteRtStatus (*get)(LiteRtAcceleratorConst, LiteRtApiVersion* version));
LiteRtStatus LiteRtSetAcceleratorGetHardwareSupport(LiteRtAccelerator accelerator,
                                                    LiteRtStatus (*get)(LiteRtAcceleratorConst,
                                                                        LiteRtHwAcceleratorSet* hardware));
LiteRtStatus LiteRtSetDelegateFunction(LiteRtAccelerator accelerator,
                                       LiteRtStatus (*create)(LiteRtRuntimeContext*, LiteRtEnvironment,
                                                              LiteRtAcceleratorConst, LiteRtOptions,
                                                              LiteRtDelegateWrapper* delegate));
LiteRtStatus LiteRtRegisterAccelerator(LiteRtEnvironment environment, LiteRtAccelerator accelerator, void* data,
                                       void (*release)(void*));
LiteRtStatus LiteRtWrapDelegate(TfLiteOpaqueDelegate* delegate, void (*destroy)(TfLiteOpaqueDelegate*),
                                LiteRtDelegateWrapper* wrapper);
}

namespace litefuse {

// Gives an environment the kernels of this library; false if LiteRT refuses them.
inline bool AddKernels(LiteRtEnvironment environment) {
  LiteRtAccelerator accelerator = nullptr;
  if (LiteRtCreateAccelerator(&accelerator) != kLiteRtStatusOk) return false;
  LiteRtSetAcceleratorGetName(accelerator, [](LiteRtAcceleratorConst, const char** name) {
    *name = "litefuse";
    return kLiteRtStatusOk;
  });
  LiteRtSetAcceleratorGetVersion(accelerator, [](LiteRtAcceleratorConst, LiteRtApiVersion* version) {
    *version = {0, 1, 0};
    return kLiteRtStatusOk;
  });
  LiteRtSetAcceleratorGetHardwareSupport(accelerator, [](LiteRtAcceleratorConst, LiteRtHwAcceleratorSet* hardware) {
    *hardware = 1;  // kLiteRtHwAcceleratorCpu
    return kLiteRtStatusOk;
  });
  LiteRtSetDelegateFunction(accelerator, [](LiteRtRuntimeContext*, LiteRtEnvironment, LiteRtAcceleratorConst,
                                            LiteRtOptions, LiteRtDelegateWrapper* wrapper) {
    TfLiteDelegate* delegate = tflite_plugin_create_delegate(nullptr, nullptr, 0, nullptr);
    const auto destroy = [](TfLiteOpaqueDelegate* made) {
      tflite_plugin_destroy_delegate(reinterpret_cast<TfLiteDelegate*>(made));
    };
    return LiteRtWrapDelegate(reinterpret_cast<TfLiteOpaqueDelegate*>(delegate), destroy, wrapper);
  });
  return LiteRtRegisterAccelerator(environment, accelerator, nullptr, nullptr) == kLiteRtStatusOk;
}

}  // namespace litefuse

#endif  // LITEFUSE_COMPILED_MODEL_H_
