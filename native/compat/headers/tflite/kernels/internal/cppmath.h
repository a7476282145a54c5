#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_CPPMATH_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_CPPMATH_H_

#include <cmath>

namespace tflite {

template <typename T>
T TfLiteRound(T x) {
  return std::round(x);  // halves away from zero
}

template <typename T>
T TfLiteExpm1(T x) {
  return std::expm1(x);
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_CPPMATH_H_
