#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_PORTABLE_TENSOR_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_PORTABLE_TENSOR_H_

#include <cstddef>
#include <cstring>
#include <vector>

#include "tflite/kernels/internal/tensor_ctypes.h"

namespace tflite {

// The shapes and the numbers of several tensors, as arrays of pointers.
template <typename T>
class VectorOfTensors {
 public:
  VectorOfTensors(const TfLiteContext& context, const TfLiteIntArray& tensors) {
    for (int i = 0; i < tensors.size; ++i) Add(&context.tensors[tensors.data[i]]);
    Point();
  }
  explicit VectorOfTensors(const std::vector<TfLiteTensor*>& tensors) {
    for (TfLiteTensor* each : tensors) Add(each);
    Point();
  }

  T* const* data() const { return data_.data(); }
  const RuntimeShape* const* shapes() const { return pointers_.data(); }
  size_t size() const { return data_.size(); }

 private:
  void Add(TfLiteTensor* tensor) {
    data_.push_back(GetTensorData<T>(tensor));
    shapes_.push_back(GetTensorShape(tensor));
  }
  void Point() {
    for (RuntimeShape& shape : shapes_) pointers_.push_back(&shape);
  }

  std::vector<T*> data_;
  std::vector<RuntimeShape> shapes_;
  std::vector<RuntimeShape*> pointers_;
};

// Writes elements of a tensor to another one after the other.
template <typename T>
class SequentialTensorWriter {
 public:
  SequentialTensorWriter(const TfLiteTensor* from, TfLiteTensor* to)
      : from_(GetTensorData<T>(from)), to_(GetTensorData<T>(to)) {}
  SequentialTensorWriter(const T* from, T* to) : from_(from), to_(to) {}

  void Write(int64_t position) { *to_++ = from_[position]; }
  void WriteN(int64_t position, int count) {
    for (int i = 0; i < count; ++i) Write(position + i);
  }

 private:
  const T* from_;
  T* to_;
};

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_PORTABLE_TENSOR_H_
