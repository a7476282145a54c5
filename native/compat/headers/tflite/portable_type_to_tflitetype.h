#ifndef LITEFUSE_COMPAT_TFLITE_PORTABLE_TYPE_TO_TFLITETYPE_H_
#define LITEFUSE_COMPAT_TFLITE_PORTABLE_TYPE_TO_TFLITETYPE_H_

#include <complex>
#include <cstdint>

#include "tflite/core/c/common.h"
#include "tflite/string_type.h"

namespace tflite {

// The type of tensors with elements of a type of C++, and the reverse.
template <typename T>
constexpr TfLiteType typeToTfLiteType() {
  return kTfLiteNoType;
}
template <TfLiteType type>
struct TfLiteTypeToType {};

#define LITEFUSE_TYPE(cpp, type)               \
  template <>                                  \
  constexpr TfLiteType typeToTfLiteType<cpp>() { \
    return type;                               \
  }                                            \
  template <>                                  \
  struct TfLiteTypeToType<type> {              \
    using Type = cpp;                          \
  };
LITEFUSE_TYPE(float, kTfLiteFloat32)
LITEFUSE_TYPE(double, kTfLiteFloat64)
LITEFUSE_TYPE(int8_t, kTfLiteInt8)
LITEFUSE_TYPE(uint8_t, kTfLiteUInt8)
LITEFUSE_TYPE(int16_t, kTfLiteInt16)
LITEFUSE_TYPE(uint16_t, kTfLiteUInt16)
LITEFUSE_TYPE(int32_t, kTfLiteInt32)
LITEFUSE_TYPE(uint32_t, kTfLiteUInt32)
LITEFUSE_TYPE(int64_t, kTfLiteInt64)
LITEFUSE_TYPE(uint64_t, kTfLiteUInt64)
LITEFUSE_TYPE(bool, kTfLiteBool)
LITEFUSE_TYPE(std::complex<float>, kTfLiteComplex64)
LITEFUSE_TYPE(std::complex<double>, kTfLiteComplex128)
LITEFUSE_TYPE(string, kTfLiteString)
#undef LITEFUSE_TYPE

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_PORTABLE_TYPE_TO_TFLITETYPE_H_
