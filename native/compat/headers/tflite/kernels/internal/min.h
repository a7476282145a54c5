#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_MIN_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_MIN_H_

#include <cmath>

namespace tflite {

template <typename T>
T TfLiteMin(T a, T b) {
  return std::fmin(a, b);
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_MIN_H_
