#ifndef LITEFUSE_COMPAT_TFLITE_C_C_API_H_
#define LITEFUSE_COMPAT_TFLITE_C_C_API_H_

#include "tflite/core/c/c_api.h"

#endif  // LITEFUSE_COMPAT_TFLITE_C_C_API_H_
