// The shape and the numbers of a tensor.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TENSOR_CTYPES_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TENSOR_CTYPES_H_

#include <vector>

#include "tflite/core/c/common.h"
#include "tflite/core/macros.h"
#include "tflite/kernels/internal/types.h"

namespace tflite {

template <typename T>
T* GetTensorData(TfLiteTensor* tensor) {
  return tensor == nullptr ? nullptr : static_cast<T*>(tensor->data.data);
}
template <typename T>
const T* GetTensorData(const TfLiteTensor* tensor) {
  return tensor == nullptr ? nullptr : static_cast<const T*>(tensor->data.data);
}

inline RuntimeShape GetTensorShape(const TfLiteTensor* tensor) {
  if (tensor == nullptr || tensor->dims == nullptr) return RuntimeShape();
  return RuntimeShape(tensor->dims->size, tensor->dims->data);
}
inline RuntimeShape GetTensorShape(std::vector<int32_t> sizes) {
  return RuntimeShape(static_cast<int>(sizes.size()), sizes.data());
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TENSOR_CTYPES_H_
