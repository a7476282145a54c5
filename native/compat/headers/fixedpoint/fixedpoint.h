// The products of numbers in fixed point that quantized kernels scale with.
#ifndef LITEFUSE_COMPAT_FIXEDPOINT_FIXEDPOINT_H_
#define LITEFUSE_COMPAT_FIXEDPOINT_FIXEDPOINT_H_

#include <cstdint>
#include <limits>

namespace gemmlowp {

// The upper half of twice the product, rounded to nearest, halves away from zero; the only product that does not fit
// becomes the largest number.
inline int32_t SaturatingRoundingDoublingHighMul(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::max();
  const int64_t product = static_cast<int64_t>(a) * static_cast<int64_t>(b);
  const int64_t half = int64_t{1} << 30;
  return static_cast<int32_t>((product + (product >= 0 ? half : 1 - half)) / (int64_t{1} << 31));
}

// A number divided by a power of two, rounded to nearest, halves away from zero.
template <typename Integer>
Integer RoundingDivideByPOT(Integer x, int exponent) {
  if (exponent > std::numeric_limits<Integer>::digits) return 0;
  const auto mask = static_cast<int64_t>((uint64_t{1} << exponent) - 1);
  const int64_t remainder = static_cast<int64_t>(x) & mask;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<Integer>((static_cast<int64_t>(x) >> exponent) + (remainder > threshold ? 1 : 0));
}

}  // namespace gemmlowp

#endif  // LITEFUSE_COMPAT_FIXEDPOINT_FIXEDPOINT_H_
