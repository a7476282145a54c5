#ifndef LITEFUSE_COMPAT_TFLITE_C_COMMON_H_
#define LITEFUSE_COMPAT_TFLITE_C_COMMON_H_

#include "tflite/core/c/common.h"

#endif  // LITEFUSE_COMPAT_TFLITE_C_COMMON_H_
