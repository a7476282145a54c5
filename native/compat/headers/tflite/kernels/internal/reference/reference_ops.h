#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_REFERENCE_REFERENCE_OPS_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_REFERENCE_REFERENCE_OPS_H_

// Sources include it for what it includes: the kernels that LiteRT has here are not among litefuse's headers.
#include "tflite/core/c/builtin_op_data.h"
#include "tflite/core/c/common.h"
#include "tflite/kernels/internal/common.h"
#include "tflite/kernels/internal/quantization_util.h"
#include "tflite/kernels/internal/tensor.h"
#include "tflite/kernels/internal/types.h"

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_REFERENCE_REFERENCE_OPS_H_
