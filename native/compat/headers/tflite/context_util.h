#ifndef LITEFUSE_COMPAT_TFLITE_CONTEXT_UTIL_H_
#define LITEFUSE_COMPAT_TFLITE_CONTEXT_UTIL_H_

#include <cstddef>

#include "tflite/core/c/common.h"

namespace tflite {

// Lets a loop run over an array of the C interface.
class TfLiteIntArrayView {
 public:
  using const_iterator = const int*;

  explicit TfLiteIntArrayView(const TfLiteIntArray* array) : array_(array) {}
  const_iterator begin() const { return array_->data; }
  const_iterator end() const { return array_->data + array_->size; }
  size_t size() const { return static_cast<size_t>(array_->size); }
  int operator[](size_t i) const { return array_->data[i]; }

 private:
  const TfLiteIntArray* array_;
};

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_CONTEXT_UTIL_H_
