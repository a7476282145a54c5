// What kernels use of the C API: the types. Interpreters are the app's.
#ifndef LITEFUSE_COMPAT_TFLITE_CORE_C_C_API_H_
#define LITEFUSE_COMPAT_TFLITE_CORE_C_C_API_H_

#include "tflite/core/c/builtin_op_data.h"
#include "tflite/core/c/common.h"

#endif  // LITEFUSE_COMPAT_TFLITE_CORE_C_C_API_H_
