// Scales of quantized tensors as numbers in fixed point.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_QUANTIZATION_UTIL_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_QUANTIZATION_UTIL_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tflite/kernels/internal/common.h"
#include "tflite/kernels/internal/compatibility.h"
#include "tflite/kernels/internal/cppmath.h"
#include "tflite/kernels/internal/types.h"

namespace tflite {

// A multiplier as a number in [2^30, 2^31), or 0, and the power of two that makes it so.
inline void QuantizeMultiplier(double real, int32_t* multiplier, int* shift) {
  *multiplier = 0;
  *shift = 0;
  if (real == 0) return;
  const double fraction = std::frexp(real, shift);
  auto fixed = static_cast<int64_t>(TfLiteRound(fraction * static_cast<double>(int64_t{1} << 31)));
  if (fixed == int64_t{1} << 31) {
    fixed /= 2;
    ++*shift;
  }
  if (*shift < -31) {  // every bit would be shifted out
    *shift = 0;
    fixed = 0;
  }
#if TFLITE_SINGLE_ROUNDING
  if (*shift > 30) {
    *shift = 30;
    fixed = (int64_t{1} << 31) - 1;
  }
#endif
  *multiplier = static_cast<int32_t>(fixed);
}

inline void QuantizeMultiplierGreaterThanOne(double real, int32_t* multiplier, int* shift) {
  TFLITE_CHECK_GT(real, 1.0);
  QuantizeMultiplier(real, multiplier, shift);
}
inline void QuantizeMultiplierSmallerThanOneExp(double real, int32_t* multiplier, int* shift) {
  TFLITE_CHECK(real > 0.0 && real < 1.0);
  QuantizeMultiplier(real, multiplier, shift);
}
inline void QuantizeMultiplierArray(const double* reals, size_t count, int32_t* multipliers, int* shifts) {
  for (size_t i = 0; i < count; ++i) QuantizeMultiplier(reals[i], &multipliers[i], &shifts[i]);
}

// The scale and the zero point with which integers cover a range that contains 0.
template <typename T>
QuantizationParams ChooseQuantizationParams(double min, double max, bool narrow_range = false) {
  TFLITE_CHECK(min <= 0 && max >= 0);
  QuantizationParams chosen;
  if (min == max) return chosen;
  const double least = std::numeric_limits<T>::min() + (narrow_range ? 1 : 0), most = std::numeric_limits<T>::max();
  chosen.scale = (max - min) / (most - least);
  // Of two ways to compute the zero point, that with the smaller rounding error.
  const bool from_min = std::abs(least) + std::abs(min / chosen.scale) < std::abs(most) + std::abs(max / chosen.scale);
  const double zero = from_min ? least - min / chosen.scale : most - max / chosen.scale;
  chosen.zero_point = static_cast<int32_t>(std::round(std::clamp(zero, least, most)));
  return chosen;
}

// A real number as an integer: toward zero, the nearest limit where it is beyond the integers.
template <typename Integer, typename Real>
Integer SafeCast(Real x, Integer of_nan = Integer{0}) {
  if (std::isnan(x)) return of_nan;
  if (x < static_cast<Real>(std::numeric_limits<Integer>::min())) return std::numeric_limits<Integer>::min();
  if (x >= std::ldexp(Real{1}, std::numeric_limits<Integer>::digits)) return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(x);
}

// Whether a number is a power of two, or nearly, and which.
inline bool CheckedLog2(const float x, int* log2_result) {
  const float log2 = std::log2(x), rounded = TfLiteRound(log2);
  *log2_result = static_cast<int>(rounded);
  return std::abs(log2 - rounded) < 1e-3f;
}

inline void PreprocessSoftmaxScaling(double beta, double input_scale, int input_integer_bits, int32_t* multiplier,
                                     int* shift) {
  const double limit = static_cast<double>((int64_t{1} << (TFLITE_SINGLE_ROUNDING ? 30 : 31)) - 1);
  const double scaled = beta * input_scale * static_cast<double>(int64_t{1} << (31 - input_integer_bits));
  QuantizeMultiplierGreaterThanOne(std::min(scaled, limit), multiplier, shift);
}
inline int CalculateInputRadius(int input_integer_bits, int input_left_shift, int total_signed_bits = 31) {
  const double largest = static_cast<double>((int64_t{1} << input_integer_bits) - 1);
  return static_cast<int>(std::floor(
      largest * static_cast<double>(int64_t{1} << (total_signed_bits - input_integer_bits)) /
      static_cast<double>(int64_t{1} << input_left_shift)));
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_QUANTIZATION_UTIL_H_
