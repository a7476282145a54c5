#ifndef LITEFUSE_COMPAT_TFLITE_MODEL_H_
#define LITEFUSE_COMPAT_TFLITE_MODEL_H_

// Sources of kernels include it for what it includes: models and interpreters are not among litefuse's headers.
#include "tflite/core/api/op_resolver.h"
#include "tflite/mutable_op_resolver.h"

#endif  // LITEFUSE_COMPAT_TFLITE_MODEL_H_
