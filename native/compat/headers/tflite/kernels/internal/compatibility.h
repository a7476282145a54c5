// Checks that end the program.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_COMPATIBILITY_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_COMPATIBILITY_H_

#include <cstdint>

#include "tflite/kernels/op_macros.h"

// These are looked at in builds without NDEBUG.
#define TFLITE_DCHECK(condition) (condition) ? static_cast<void>(0) : TFLITE_ASSERT_FALSE
#define TFLITE_CHECK(condition) (condition) ? static_cast<void>(0) : TFLITE_ABORT
#define TFLITE_DCHECK_EQ(a, b) TFLITE_DCHECK((a) == (b))
#define TFLITE_CHECK_EQ(a, b) TFLITE_CHECK((a) == (b))
#define TFLITE_DCHECK_NE(a, b) TFLITE_DCHECK((a) != (b))
#define TFLITE_CHECK_NE(a, b) TFLITE_CHECK((a) != (b))
#define TFLITE_DCHECK_GE(a, b) TFLITE_DCHECK((a) >= (b))
#define TFLITE_CHECK_GE(a, b) TFLITE_CHECK((a) >= (b))
#define TFLITE_DCHECK_GT(a, b) TFLITE_DCHECK((a) > (b))
#define TFLITE_CHECK_GT(a, b) TFLITE_CHECK((a) > (b))
#define TFLITE_DCHECK_LE(a, b) TFLITE_DCHECK((a) <= (b))
#define TFLITE_CHECK_LE(a, b) TFLITE_CHECK((a) <= (b))
#define TFLITE_DCHECK_LT(a, b) TFLITE_DCHECK((a) < (b))
#define TFLITE_CHECK_LT(a, b) TFLITE_CHECK((a) < (b))

#define TFLITE_DEPRECATED(message)

using int8 = std::int8_t;
using uint8 = std::uint8_t;
using int16 = std::int16_t;
using uint16 = std::uint16_t;
using int32 = std::int32_t;
using uint32 = std::uint32_t;

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_COMPATIBILITY_H_
