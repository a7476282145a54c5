// The windows of convolutions and pools: how many there are, and what is added around an image for them.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_PADDING_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_PADDING_H_

#include <cstdint>
#include <limits>

#include "tflite/core/c/builtin_op_data.h"
#include "tflite/kernels/internal/types.h"

namespace tflite {

// How much is added before an axis; `offset` is what is added after it beyond that. 0 where there is no such window.
inline int ComputePaddingWithOffset(int stride, int dilation_rate, int in_size, int filter_size, int out_size,
                                    int* offset) {
  *offset = 0;
  if (in_size < 0 || filter_size <= 0 || out_size < 0 || stride <= 0 || dilation_rate <= 0) return 0;
  const int64_t window = (static_cast<int64_t>(filter_size) - 1) * dilation_rate + 1;
  const int64_t total = (static_cast<int64_t>(out_size) - 1) * stride + window - in_size;
  if (total <= 0 || total / 2 > std::numeric_limits<int>::max()) return 0;
  *offset = static_cast<int>(total % 2);
  return static_cast<int>(total / 2);
}
inline int ComputePadding(int stride, int dilation_rate, int in_size, int filter_size, int out_size) {
  int offset;
  return ComputePaddingWithOffset(stride, dilation_rate, in_size, filter_size, out_size, &offset);
}

// How many windows there are along an axis; false, and 0, where there is no such window, or it is larger than the image.
inline bool CountWindows(TfLitePadding padding, int image_size, int filter_size, int stride, int dilation_rate,
                         int* count) {
  *count = 0;
  if (image_size < 0 || filter_size <= 0 || stride <= 0 || dilation_rate <= 0) return false;
  const int64_t window = (static_cast<int64_t>(filter_size) - 1) * dilation_rate + 1;
  const int64_t size = image_size, step = stride;
  int64_t windows = -1;
  if (padding == kTfLitePaddingSame) windows = (size + step - 1) / step;
  if (padding == kTfLitePaddingValid) windows = (size + step - window) / step;
  if (windows < 0) return false;
  *count = static_cast<int>(windows);
  return true;
}
inline int ComputeOutSize(TfLitePadding padding, int image_size, int filter_size, int stride, int dilation_rate = 1) {
  int count;
  CountWindows(padding, image_size, filter_size, stride, dilation_rate, &count);
  return count;
}

// Nothing is added to an image that has no such windows.
inline TfLitePaddingValues ComputePaddingHeightWidth(int stride_height, int stride_width, int dilation_rate_height,
                                                     int dilation_rate_width, int in_height, int in_width,
                                                     int filter_height, int filter_width, TfLitePadding padding,
                                                     int* out_height, int* out_width) {
  TfLitePaddingValues values{};
  *out_height = 0;
  if (!CountWindows(padding, in_width, filter_width, stride_width, dilation_rate_width, out_width) ||
      !CountWindows(padding, in_height, filter_height, stride_height, dilation_rate_height, out_height)) {
    return values;
  }
  values.height = ComputePaddingWithOffset(stride_height, dilation_rate_height, in_height, filter_height, *out_height,
                                           &values.height_offset);
  values.width = ComputePaddingWithOffset(stride_width, dilation_rate_width, in_width, filter_width, *out_width,
                                          &values.width_offset);
  return values;
}

inline Padding3DValues ComputePadding3DValues(int stride_height, int stride_width, int stride_depth,
                                              int dilation_rate_height, int dilation_rate_width,
                                              int dilation_rate_depth, int in_height, int in_width, int in_depth,
                                              int filter_height, int filter_width, int filter_depth,
                                              TfLitePadding padding, int* out_height, int* out_width, int* out_depth) {
  *out_height = ComputeOutSize(padding, in_height, filter_height, stride_height, dilation_rate_height);
  *out_width = ComputeOutSize(padding, in_width, filter_width, stride_width, dilation_rate_width);
  *out_depth = ComputeOutSize(padding, in_depth, filter_depth, stride_depth, dilation_rate_depth);
  const auto pad = [](int stride, int dilation, int in, int filter, int out, int16_t* before, int16_t* more) {
    int offset;
    *before = static_cast<int16_t>(ComputePaddingWithOffset(stride, dilation, in, filter, out, &offset));
    *more = static_cast<int16_t>(offset);
  };
  Padding3DValues values;
  pad(stride_height, dilation_rate_height, in_height, filter_height, *out_height, &values.height,
      &values.height_offset);
  pad(stride_width, dilation_rate_width, in_width, filter_width, *out_width, &values.width, &values.width_offset);
  pad(stride_depth, dilation_rate_depth, in_depth, filter_depth, *out_depth, &values.depth, &values.depth_offset);
  return values;
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_PADDING_H_
