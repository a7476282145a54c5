// The arithmetic of LiteRT's elementwise ops on single numbers, for generated kernels.
//
// None of these has undefined behavior: integers wrap around, and divisions by zero, which the kernels look for before
// they compute, give 0.
#ifndef LITEFUSE_ARITHMETIC_H_
#define LITEFUSE_ARITHMETIC_H_

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "litefuse/half.h"
#include "litefuse/vector_math.h"

namespace litefuse::arithmetic {

template <typename T>
using Wrapping = std::make_unsigned_t<std::conditional_t<(sizeof(T) < sizeof(int)), int, T>>;

template <typename T>
LITEFUSE_INLINE T Add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else {
    return a + b;
  }
}

template <typename T>
LITEFUSE_INLINE T Subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  } else {
    return a - b;
  }
}

template <typename T>
LITEFUSE_INLINE T Multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  } else {
    return a * b;
  }
}

// Truncated, for integers.
template <typename T>
LITEFUSE_INLINE T Divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return Subtract<T>(0, a);
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

template <typename T>
LITEFUSE_INLINE T FloorMod(T a, T b) {
  T rest;
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return 0;
    }
    rest = static_cast<T>(a % b);
  } else {
    rest = std::fmod(a, b);
  }
  return rest != 0 && (b < 0) != (rest < 0) ? static_cast<T>(rest + b) : rest;
}

// Of integers by way of float64, as LiteRT computes it.
template <typename T>
LITEFUSE_INLINE T FloorDivide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    const double quotient = std::floor(static_cast<double>(a) / static_cast<double>(b));
    if (quotient >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::min();
    return static_cast<T>(quotient);
  } else {
    return static_cast<T>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
  }
}

template <typename T>
LITEFUSE_INLINE T Absolute(T a) {
  if constexpr (std::is_unsigned_v<T>) {
    return a;
  } else if constexpr (std::is_integral_v<T>) {
    return a < 0 ? Subtract<T>(0, a) : a;
  } else {
    return std::abs(a);
  }
}

// As LiteRT compares them: of a NaN and a number, the second.
template <typename T>
LITEFUSE_INLINE T Larger(T a, T b) {
  return a > b ? a : b;
}

template <typename T>
LITEFUSE_INLINE T Smaller(T a, T b) {
  return a < b ? a : b;
}

// A number within limits; a NaN stays.
template <typename T>
LITEFUSE_INLINE T AtLeast(T a, T limit) {
  return a < limit ? limit : a;
}

template <typename T>
LITEFUSE_INLINE T AtMost(T a, T limit) {
  return a > limit ? limit : a;
}

// 1, 0 or -1; a NaN gives 0.
template <typename T>
LITEFUSE_INLINE T Sign(T a) {
  return static_cast<T>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0));
}

// To the power of an exponent that is not negative, for integers.
template <typename T>
LITEFUSE_INLINE T Power(T a, T exponent) {
  if constexpr (std::is_integral_v<T>) {
    T result = 1;
    for (T left = exponent; left > 0; left = static_cast<T>(left / 2)) {
      if (left % 2 != 0) result = Multiply<T>(result, a);
      a = Multiply<T>(a, a);
    }
    return result;
  } else {
    return math::Pow(a, exponent);
  }
}

template <typename T>
LITEFUSE_INLINE T ShiftRight(T a, T count) {
  constexpr int kBits = static_cast<int>(sizeof(T) * 8);
  const int bits = count < 0 ? 0 : count >= T(kBits) ? kBits - 1 : static_cast<int>(count);
  return std::is_unsigned_v<T> && count >= T(kBits) ? T(0) : static_cast<T>(a >> bits);
}

// How far apart the samples of a resized image are, by the sizes between which it lies.
LITEFUSE_INLINE float Spacing(int64_t size, int64_t target, int64_t count) {
  return count > 1 && target > 0 ? static_cast<float>(size) / static_cast<float>(target) : static_cast<float>(count > 0 ? size : 0);
}

// A place among so many, of which there is one at least: that of a number, or the nearest.
LITEFUSE_INLINE int32_t Within(float place, int64_t size) {
  if (!(place > 0)) return 0;
  return static_cast<int32_t>(place < static_cast<float>(size) ? static_cast<int64_t>(place) : size - 1);
}

// The bits of a number as a number of another type of the same size.
template <typename To, typename From>
LITEFUSE_INLINE To Bits(From a) {
  static_assert(sizeof(To) == sizeof(From), "they are of one size");
  To made;
  std::memcpy(&made, &a, sizeof(made));
  return made;
}

// A number in another type. Floating point becomes the nearest integer towards zero, or the limit of the type; a NaN
// its largest number.
template <typename To, typename From>
LITEFUSE_INLINE To Cast(From a) {
  if constexpr (std::is_same_v<To, From>) {
    return a;
  } else if constexpr (std::is_same_v<From, std::complex<float>>) {
    return Cast<To>(a.real());
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
    return Cast<To>(static_cast<float>(a));
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(a));
  } else if constexpr (std::is_same_v<To, std::complex<float>>) {
    return To(static_cast<float>(a), 0.0f);
  } else if constexpr (std::is_same_v<To, bool>) {
    return a != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From kLeast = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From kMost = std::numeric_limits<To>::digits < std::numeric_limits<From>::digits
                               ? static_cast<From>(std::numeric_limits<To>::max())
                               : static_cast<From>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * From(2);
    if (!(a < kMost)) return std::numeric_limits<To>::max();
    return a <= kLeast ? std::numeric_limits<To>::min() : static_cast<To>(a);
  } else {
    return static_cast<To>(a);
  }
}

}  // namespace litefuse::arithmetic

#endif  // LITEFUSE_ARITHMETIC_H_
