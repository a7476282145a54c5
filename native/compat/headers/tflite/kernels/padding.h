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

// How many windows there are along an axis; 0 where there is no such window.
inline int ComputeOutSize(TfLitePadding padding, int image_size, int filter_size, int stride, int dilation_rate = 1) {
  if (image_size < 0 || filter_size <= 0 || stride <= 0 || dilation_rate <= 0) return 0;
  const int64_t window = (static_cast<int64_t>(filter_size) - 1) * dilation_rate + 1;
  const int64_t size = image_size, step = stride;
  if (padding == kTfLitePaddingSame) return static_cast<int>((size + step - 1) / step);
  if (padding != kTfLitePaddingValid || size + step < window) return 0;
  return static_cast<int>((size + step - window) / step);
}

inline TfLitePaddingValues ComputePaddingHeightWidth(int stride_height, int stride_width, int dilation_rate_height,
                                                     int dilation_rate_width, int in_height, int in_width,
                                                     int filter_height, int filter_width, TfLitePadding padding,
                                                     int* out_height, int* out_width) {
  *out_height = ComputeOutSize(padding, in_height, filter_height, stride_height, dilation_rate_height);
  *out_width = ComputeOutSize(padding, in_width, filter_width, stride_width, dilation_rate_width);
  TfLitePaddingValues values;
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
  int depth_offset;
  const TfLitePaddingValues plane =
      ComputePaddingHeightWidth(stride_height, stride_width, dilation_rate_height, dilation_rate_width, in_height,
                                in_width, filter_height, filter_width, padding, out_height, out_width);
  *out_depth = ComputeOutSize(padding, in_depth, filter_depth, stride_depth, dilation_rate_depth);
  Padding3DValues values;
  values.depth = static_cast<int16_t>(ComputePaddingWithOffset(stride_depth, dilation_rate_depth, in_depth,
                                                               filter_depth, *out_depth, &depth_offset));
  values.depth_offset = static_cast<int16_t>(depth_offset);
  values.height = static_cast<int16_t>(plane.height);
  values.height_offset = static_cast<int16_t>(plane.height_offset);
  values.width = static_cast<int16_t>(plane.width);
  values.width_offset = static_cast<int16_t>(plane.width_offset);
  return values;
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_PADDING_H_
