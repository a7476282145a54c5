#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TENSOR_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TENSOR_H_

#include "tflite/kernels/internal/portable_tensor.h"
#include "tflite/string_type.h"
#include "tflite/string_util.h"

namespace tflite {

template <>
class SequentialTensorWriter<string> {
 public:
  SequentialTensorWriter(const TfLiteTensor* from, TfLiteTensor* to) : from_(from), to_(to) {}
  ~SequentialTensorWriter() { buffer_.WriteToTensor(to_, nullptr); }

  void Write(int64_t position) { buffer_.AddString(GetString(from_, static_cast<int>(position))); }
  void WriteN(int64_t position, int count) {
    for (int i = 0; i < count; ++i) Write(position + i);
  }

 private:
  const TfLiteTensor* from_;
  TfLiteTensor* to_;
  DynamicBuffer buffer_;
};

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TENSOR_H_
