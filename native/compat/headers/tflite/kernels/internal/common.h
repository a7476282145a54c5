// Arithmetic of kernels: activations, and numbers in fixed point.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_COMMON_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_COMMON_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

#include "fixedpoint/fixedpoint.h"
#include "tflite/core/macros.h"
#include "tflite/kernels/internal/cppmath.h"
#include "tflite/kernels/internal/runtime_shape.h"
#include "tflite/kernels/internal/types.h"

#ifndef TFLITE_SINGLE_ROUNDING
#define TFLITE_SINGLE_ROUNDING 0
#endif

namespace tflite {

constexpr int kReverseShift = -1;

inline void GetActivationMinMax(FusedActivationFunctionType activation, float* min, float* max) {
  const bool is_one = activation == FusedActivationFunctionType::kRelu1;
  *min = activation == FusedActivationFunctionType::kNone ? std::numeric_limits<float>::lowest() : is_one ? -1.0f : 0.0f;
  *max = activation == FusedActivationFunctionType::kRelu6 ? 6.0f : is_one ? 1.0f : std::numeric_limits<float>::max();
}

template <typename T>
T ActivationFunctionWithMinMax(T x, T min, T max) {
  return std::min(std::max(x, min), max);
}

template <FusedActivationFunctionType activation>
float ActivationFunction(float x) {
  float min, max;
  GetActivationMinMax(activation, &min, &max);
  return ActivationFunctionWithMinMax(x, min, max);
}

// x * multiplier * 2^(shift - 31), rounded: once, or in two steps, each of them halves away from zero, as LiteRT does by
// default. What does not fit wraps in two steps.
inline int32_t MultiplyByQuantizedMultiplier(int32_t x, int32_t multiplier, int shift) {
#if TFLITE_SINGLE_ROUNDING
  const int total = 31 - shift;
  return static_cast<int32_t>((x * static_cast<int64_t>(multiplier) + (int64_t{1} << (total - 1))) >> total);
#else
  const int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << (left & 31));
  return gemmlowp::RoundingDivideByPOT(gemmlowp::SaturatingRoundingDoublingHighMul(shifted, multiplier), right);
#endif
}

// The same of sums of int16 products, |x| < 2^47; the multiplier is rounded to 16 bits before.
inline int32_t MultiplyByQuantizedMultiplier(int64_t x, int32_t multiplier, int shift) {
  const int32_t reduced = multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
  const int total = 15 - shift;
  return static_cast<int32_t>((x * static_cast<int64_t>(reduced) + (int64_t{1} << (total - 1))) >> total);
}

inline int32_t MultiplyByQuantizedMultiplierSmallerThanOneExp(int32_t x, int32_t multiplier, int shift) {
  TFLITE_DCHECK_LE(shift, 0);
  return MultiplyByQuantizedMultiplier(x, multiplier, shift);
}
inline int32_t MultiplyByQuantizedMultiplierGreaterThanOne(int32_t x, int32_t multiplier, int shift) {
  TFLITE_DCHECK_GE(shift, 0);
  return MultiplyByQuantizedMultiplier(x, multiplier, shift);
}

template <typename T>
int CountLeadingZeros(T number) {
  static_assert(std::is_unsigned<T>::value, "only unsigned integers");
  int zeros = 0;
  for (int bit = std::numeric_limits<T>::digits - 1; bit >= 0 && (number >> bit & 1) == 0; --bit) ++zeros;
  return zeros;
}

template <typename T>
T SaturatingAddNonGemmlowp(T a, T b) {
  static_assert(sizeof(T) < sizeof(int64_t), "the sum has to fit");
  const int64_t sum = static_cast<int64_t>(a) + static_cast<int64_t>(b);
  return static_cast<T>(std::clamp<int64_t>(sum, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
template <typename T>
T SaturatingSub(T a, T b) {
  static_assert(sizeof(T) < sizeof(int64_t), "the difference has to fit");
  const int64_t difference = static_cast<int64_t>(a) - static_cast<int64_t>(b);
  return static_cast<T>(std::clamp<int64_t>(difference, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_COMMON_H_
