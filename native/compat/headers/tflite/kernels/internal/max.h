#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_MAX_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_MAX_H_

#include <cmath>

namespace tflite {

template <typename T>
T TfLiteMax(T a, T b) {
  return std::fmax(a, b);
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_MAX_H_
