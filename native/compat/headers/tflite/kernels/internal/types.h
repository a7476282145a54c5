// Shapes that are to match, indices, and the parameters of windows.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TYPES_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TYPES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tflite/kernels/internal/compatibility.h"
#include "tflite/kernels/internal/runtime_shape.h"

namespace tflite {

enum class FusedActivationFunctionType : uint8_t { kNone, kRelu6, kRelu1, kRelu };
enum class PaddingType : uint8_t { kNone, kSame, kValid };

struct PaddingValues {
  int16_t width;
  int16_t height;
  int16_t width_offset;
  int16_t height_offset;
};

struct Padding3DValues {
  int16_t width;
  int16_t height;
  int16_t depth;
  int16_t width_offset;
  int16_t height_offset;
  int16_t depth_offset;
};

struct QuantizationParams {
  int32_t zero_point = 0;
  double scale = 0.0;
};
inline bool operator==(const QuantizationParams& a, const QuantizationParams& b) {
  return a.zero_point == b.zero_point && a.scale == b.scale;
}

struct MinMax {
  float min;
  float max;
};

// What a window is moved by, for kernels of convolutions and pools.
struct PoolParams {
  FusedActivationFunctionType activation;
  PaddingType padding_type;
  PaddingValues padding_values;
  int stride_height;
  int stride_width;
  int filter_height;
  int filter_width;
  int32_t quantized_activation_min;
  int32_t quantized_activation_max;
  float float_activation_min;
  float float_activation_max;
};

struct ConvParams {
  PaddingType padding_type;
  PaddingValues padding_values;
  int16_t stride_width;
  int16_t stride_height;
  int16_t dilation_width_factor;
  int16_t dilation_height_factor;
  int32_t input_offset;
  int32_t weights_offset;
  int32_t output_offset;
  int32_t output_multiplier;
  int output_shift;
  int32_t quantized_activation_min;
  int32_t quantized_activation_max;
  float float_activation_min;
  float float_activation_max;
};

struct ArithmeticParams {
  int32_t input1_offset;
  int32_t input2_offset;
  int32_t output_offset;
  int32_t output_multiplier;
  int output_shift;
  int left_shift;
  int32_t input1_multiplier;
  int input1_shift;
  int32_t input2_multiplier;
  int input2_shift;
  int32_t quantized_activation_min;
  int32_t quantized_activation_max;
  float float_activation_min;
  float float_activation_max;
  int64_t int64_activation_min;
  int64_t int64_activation_max;
};

// Moves on to the next index of an array of these sizes; false behind the last one.
template <typename Index = int>
bool NextIndex(int rank, const int* sizes, Index* current) {
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (current[axis] + 1 < sizes[axis]) {
      ++current[axis];
      return true;
    }
    current[axis] = 0;
  }
  return false;
}

// Where an element stands in an array that lacks some of the axes.
inline size_t ReducedOutputOffset(int rank, const int* sizes, const int* index, int axes, const int* axis) {
  size_t offset = 0;
  for (int i = 0; i < rank; ++i) {
    if (axis != nullptr && std::find(axis, axis + axes, i) != axis + axes) continue;
    offset = offset * static_cast<size_t>(sizes[i]) + static_cast<size_t>(index[i]);
  }
  return offset;
}

// The size that these dimensions have in common; the smallest if they differ, which a debug build does not accept.
inline int MatchingDim(const RuntimeShape& shape1, int index1, const RuntimeShape& shape2, int index2) {
  TFLITE_DCHECK_EQ(shape1.Dims(index1), shape2.Dims(index2));
  return std::min(shape1.Dims(index1), shape2.Dims(index2));
}
template <typename... More>
int MatchingDim(const RuntimeShape& shape1, int index1, const RuntimeShape& shape2, int index2, More... more) {
  TFLITE_DCHECK_EQ(shape1.Dims(index1), shape2.Dims(index2));
  return MatchingDim(shape1, index1, more...);
}

inline int MatchingElementsSize(const RuntimeShape& shape, const RuntimeShape& other) {
  TFLITE_CHECK_EQ(shape.FlatSize(), other.FlatSize());
  return shape.FlatSize();
}
template <typename... More>
int MatchingElementsSize(const RuntimeShape& shape, const RuntimeShape& other, const More&... more) {
  TFLITE_CHECK_EQ(shape.FlatSize(), other.FlatSize());
  return MatchingElementsSize(shape, more...);
}

inline int MatchingFlatSize(const RuntimeShape& shape, const RuntimeShape& other) {
  TFLITE_DCHECK(shape == other);
  (void)other;
  return shape.FlatSize();
}
template <typename... More>
int MatchingFlatSize(const RuntimeShape& shape, const RuntimeShape& other, const More&... more) {
  TFLITE_DCHECK(shape == other);
  return MatchingFlatSize(shape, more...);
}

inline int FlatSizeSkipDim(const RuntimeShape& shape, int skipped) {
  TFLITE_DCHECK(skipped >= 0 && skipped < shape.DimensionsCount());
  int count = 1;
  for (int i = 0; i < shape.DimensionsCount(); ++i) count *= i == skipped ? 1 : shape.Dims(i);
  return count;
}
template <typename... More>
int MatchingFlatSizeSkipDim(const RuntimeShape& shape, int skipped, const More&... more) {
  for (const RuntimeShape* other : {&more...}) {
    for (int i = 0; i < shape.DimensionsCount(); ++i) {
      if (i != skipped) TFLITE_DCHECK_EQ(shape.Dims(i), other->Dims(i));
    }
  }
  return FlatSizeSkipDim(shape, skipped);
}

template <typename Params>
void SetActivationParams(float min, float max, Params* params) {
  params->float_activation_min = min;
  params->float_activation_max = max;
}
template <typename Params>
void SetActivationParams(int32_t min, int32_t max, Params* params) {
  params->quantized_activation_min = min;
  params->quantized_activation_max = max;
}
template <typename Params>
void GetActivationParams(const Params& params, float* min, float* max) {
  *min = params.float_activation_min;
  *max = params.float_activation_max;
}
template <typename Params>
void GetActivationParams(const Params& params, int32_t* min, int32_t* max) {
  *min = params.quantized_activation_min;
  *max = params.quantized_activation_max;
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_TYPES_H_
