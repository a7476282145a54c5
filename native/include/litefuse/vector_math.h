// Elementary functions of float32 for loops that the compiler vectorizes.
//
// None of them branches, calls a function or sets errno, so that a loop of them becomes vector instructions with g++
// and clang, on x86-64 and arm64. g++ needs -O3 -fno-math-errno -fno-trapping-math for it:
// otherwise it keeps a branch for errno, and a branch for each selection, since a comparison with a NaN may trap.
// -ffast-math must not be: they rely on infinities, NaNs and the order of sums.
//
// Errors are stated in units in the last place (ulp) of the result in float32, over all arguments, with and without
// fused multiplications. Infinities, NaNs, signed zeros and denormal numbers give what the functions of <cmath> give.
//
// The forms for float64 are those of <cmath>.
#ifndef LITEFUSE_VECTOR_MATH_H_
#define LITEFUSE_VECTOR_MATH_H_

#if defined(__FAST_MATH__)
#error "litefuse/vector_math.h is wrong with -ffast-math"
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "litefuse/vector_loops.h"

namespace litefuse::math {

namespace internal {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Adding it and taking it away rounds to the nearest integer, halves to even; its last bits hold the integer meanwhile.
inline constexpr float kRound = 12582912.0f;           // 1.5 * 2^23, for less than 2^22
inline constexpr double kRound64 = 6755399441055744.0;  // 1.5 * 2^52, for less than 2^51

LITEFUSE_INLINE uint32_t Bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

LITEFUSE_INLINE float FromBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

LITEFUSE_INLINE uint64_t Bits(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// The smaller and the larger of two numbers; a NaN in x stays.
LITEFUSE_INLINE float AtMost(float x, float limit) { return x > limit ? limit : x; }
LITEFUSE_INLINE float AtLeast(float x, float limit) { return x < limit ? limit : x; }

LITEFUSE_INLINE float Abs(float x) { return FromBits(Bits(x) & 0x7fffffffu); }
LITEFUSE_INLINE float WithSign(float magnitude, float sign) {
  return FromBits((Bits(magnitude) & 0x7fffffffu) | (Bits(sign) & 0x80000000u));
}

// 2^n, from the bits of n + kRound, for n of -126 to 127.
LITEFUSE_INLINE float PowerOfTwo(uint32_t rounded) { return FromBits((rounded - Bits(kRound) + 127u) << 23); }

// A number as m * 2^e, m between sqrt(1/2) and sqrt(2); for positive finite numbers.
struct Mantissa {
  float m;
  float e;
};
LITEFUSE_INLINE Mantissa SplitMantissa(float x) {
  const bool denormal = x < 1.17549435e-38f;
  const uint32_t bits = Bits(denormal ? x * 16777216.0f : x) - 0x3f3504f3u;  // of sqrt(1/2)
  const float e = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  return {FromBits((bits & 0x007fffffu) + 0x3f3504f3u), denormal ? e - 24.0f : e};
}

}  // namespace internal

// The functions; with fused multiplications and additions, which the processor must have then. They take half to three
// quarters of the time so.
template <bool kFused>
struct Functions {
  // a * b + c.
  template <typename T>
  static LITEFUSE_INLINE T Fma(T a, T b, T c) {
    if constexpr (!kFused) {
      return a * b + c;
    } else if constexpr (sizeof(T) == sizeof(float)) {
      return __builtin_fmaf(a, b, c);
    } else {
      return __builtin_fma(a, b, c);
    }
  }

  // c0 + x * (c1 + x * (c2 + ...)).
  template <typename T>
  static LITEFUSE_INLINE T Polynomial(T, T c) {
    return c;
  }
  template <typename T, typename... Rest>
  static LITEFUSE_INLINE T Polynomial(T x, T c, Rest... rest) {
    return Fma(x, Polynomial<T>(x, rest...), c);
  }

  // x = n * log(2) + r: n, rounded to an integer, and r between -log(2) / 2 and log(2) / 2.
  struct Halvings {
    float shifted;  // n + kRound
    float rest;
  };
  static LITEFUSE_INLINE Halvings SplitHalvings(float x) {
    using namespace internal;
    const float shifted = Fma(x, 1.44269504f, kRound);
    const float n = shifted - kRound;
    // log(2) in two parts, of which the first has so few bits that its product with n is exact.
    return {shifted, Fma(n, 2.12194440e-4f, Fma(n, -0.693359375f, x))};
  }

  // The sine of n * pi + r, given the bits of n + kRound; n need not be an integer for the rest.
  static LITEFUSE_INLINE float SineOfRest(float x, float n, uint32_t rounded) {
    using namespace internal;
    // pi in four parts, the first three of so few bits that their products with n are exact up to 2^15,
    // and farther where multiplications are fused.
    const float rest = Fma(n, -0x1.0b4612p-33f, Fma(n, -0x1.51p-21f, Fma(n, -0x1.fbp-11f, Fma(n, -0x1.92p+1f, x))));
    const float r = AtLeast(AtMost(rest, 1.6f), -1.6f);  // n may be the second nearest integer by a little
    const float z = r * r;
    const float sine = Fma(r * z, Polynomial(z, -0.166666597f, 0.00833306927f, -0.000198097739f, 2.60608181e-06f), r);
    return FromBits(Bits(sine) ^ (rounded << 31));
  }

  // Rounds to an integer, halves to even.
  static LITEFUSE_INLINE float Round(float x) {
    const float size = internal::Abs(x);
    const float rounded = (size + 8388608.0f) - 8388608.0f;
    return size < 8388608.0f ? internal::WithSign(rounded, x) : x;
  }

  // The largest integer that is not above x, and the smallest that is not below it.
  static LITEFUSE_INLINE float Floor(float x) {
    const float rounded = Round(x);
    return rounded > x ? rounded - 1.0f : rounded;
  }
  static LITEFUSE_INLINE float Ceil(float x) {
    const float rounded = Round(x);
    return rounded < x ? internal::WithSign(rounded + 1.0f, x) : rounded;
  }

  // e^x, within 2 ulp; results below 1.7e-38 are 0.
  static LITEFUSE_INLINE float Exp(float x) {
    using namespace internal;
    // x = n * log(2) + r. The last bits of n + 126 + kRound are the exponent of 2^(n - 1).
    const float shifted = Fma(x, 1.44269504f, kRound + 126.0f);
    const float n = shifted - (kRound + 126.0f);
    const float r = Fma(n, 2.12194440e-4f, Fma(n, -0.693359375f, x));
    const float twice = Polynomial(r, 2.0f, 2.0f, 1.0f, 0.333330393f, 0.0833328217f, 0.0167376325f, 0.00278796908f);
    // Selections of the result: with limits of x, g++ makes more instructions of them.
    const float result = twice * FromBits(Bits(shifted) << 23);
    const float limited = x > 88.7228394f ? kInfinity : result;
    return x < -87.3f ? 0.0f : limited;
  }

  // e^x - 1, within 2 ulp.
  static LITEFUSE_INLINE float Expm1(float x) {
    using namespace internal;
    const Halvings split = SplitHalvings(AtLeast(AtMost(x, 89.0f), -30.0f));
    const float r = split.rest;
    const float p = Fma(r * r, Polynomial(r, 0.5f, 0.166665435f, 0.0416664369f, 0.00836653728f, 0.00139375741f), r);
    const float half = PowerOfTwo(Bits(split.shifted) - 1u);
    const float result = 2.0f * Fma(half, p, half - 0.5f);
    return x == 0.0f ? x : result;  // -0 stays
  }

  // The natural logarithm, within 1 ulp.
  static LITEFUSE_INLINE float Log(float x) {
    using namespace internal;
    const Mantissa split = SplitMantissa(x);
    const float f = split.m - 1.0f;
    const float p = Polynomial(f, 0.333333313f, -0.250008196f, 0.200012431f, -0.166234121f, 0.142015442f, -0.131595373f,
                               0.127624288f, -0.0763689429f);
    const float result = Fma(split.e, 0.693359375f, f + Fma(f * f, Fma(f, p, -0.5f), split.e * -2.12194440e-4f));
    // Selections of numbers: g++ does not vectorize those of conditions that are joined.
    const float positive = x < kInfinity ? result : x;
    const float limit = x == 0.0f ? -kInfinity : kNan;
    return x > 0.0f ? positive : limit;
  }

  // log(1 + x), within 2 ulp.
  static LITEFUSE_INLINE float Log1p(float x) {
    using namespace internal;
    const float u = 1.0f + x;
    const float log = Log(u);
    const float lost = (x - (u - 1.0f)) / u;  // by rounding u
    const float limited = u < kInfinity ? log + lost : log;
    const float result = u > 0.0f ? limited : log;
    return x == 0.0f ? x : result;
  }

  // The hyperbolic tangent, within 6 ulp.
  static LITEFUSE_INLINE float Tanh(float x) {
    using namespace internal;
    const float limited = AtLeast(AtMost(x, 9.02f), -9.02f);
    const float z = limited * limited;
    const float p = Polynomial(z, 1.0f, 0.133797199f, 0.00349403615f, 2.05835058e-05f, 1.3319104e-08f);
    const float q = Polynomial(z, 1.0f, 0.467130333f, 0.0258710794f, 0.000328309543f, 7.76203308e-07f);
    return AtLeast(AtMost(limited * (p / q), 1.0f), -1.0f);
  }

  // The hyperbolic tangent of log(1 + e^x), by which mish multiplies; within 4 ulp.
  static LITEFUSE_INLINE float TanhOfSoftplus(float x) {
    const float e = Exp(internal::AtMost(x, 20.0f));  // it is 1 from there on
    const float p = e * (e + 2.0f);
    return p / (p + 2.0f);
  }

  // 1 / (1 + e^-x), within 3 ulp; results below 3e-39 are 0.
  static LITEFUSE_INLINE float Logistic(float x) { return 1.0f / (1.0f + Exp(-x)); }

  // The error function, within 6 ulp.
  static LITEFUSE_INLINE float Erf(float x) {
    using namespace internal;
    const float limited = AtLeast(AtMost(x, 3.93f), -3.93f);
    const float z = limited * limited;
    const float p = Polynomial(z, 1.12837911f, 0.190783173f, 0.0527902022f, 0.00377958128f, 0.000284807989f,
                               2.04197613e-06f);
    const float q = Polynomial(z, 1.0f, 0.502409935f, 0.114257254f, 0.0149973817f, 0.00116520596f, 3.80040983e-05f);
    return AtLeast(AtMost(limited * (p / q), 1.0f), -1.0f);
  }

  // The sine and the cosine of radians, within 3 ulp or 1e-10 up to 50,000. Beyond that the error grows, as in XNNPACK;
  // the result stays between -1 and 1 but for one ulp.
  static LITEFUSE_INLINE float Sin(float x) {
    using namespace internal;
    const float shifted = Fma(x, 0.318309886f, kRound);
    const float result = SineOfRest(x, shifted - kRound, Bits(shifted));
    return x == 0.0f ? x : result;  // -0 stays
  }
  static LITEFUSE_INLINE float Cos(float x) {
    using namespace internal;
    // cos(x) = -sin(x - pi / 2 - n * pi) for even n.
    const float shifted = Fma(x, 0.318309886f, -0.5f) + kRound;
    return SineOfRest(x, (shifted - kRound) + 0.5f, Bits(shifted) + 1u);
  }

  // The square root, rounded correctly, and its reciprocal, within 1.5 ulp.
  static LITEFUSE_INLINE float Sqrt(float x) { return std::sqrt(x); }
  static LITEFUSE_INLINE float Rsqrt(float x) { return 1.0f / std::sqrt(x); }

  // sqrt(x^2 + y^2), within 1 ulp, also where a square is beyond float32.
  static LITEFUSE_INLINE float Hypot(float x, float y) {
    using namespace internal;
    const double real = x, imaginary = y;
    const float result = static_cast<float>(std::sqrt(real * real + imaginary * imaginary));
    const float limited = Abs(x) == kInfinity ? kInfinity : result;
    return Abs(y) == kInfinity ? kInfinity : limited;
  }

  // x^y, within 1 ulp; computed in float64.
  static LITEFUSE_INLINE float Pow(float x, float y) {
    using namespace internal;
    const float size = Abs(x);
    const Mantissa split = SplitMantissa(size);
    const double m = split.m;
    const double s = (m - 1.0) / (m + 1.0);  // log(m) = 2 atanh(s)
    const double w = s * s;
    const double log2_m = s * Polynomial(w, 2.8853900817778508, 0.96179669411321733, 0.57707794233325072,
                                         0.41220925926185947, 0.31990531049077076, 0.282906829465777);
    double power = static_cast<double>(y) * (static_cast<double>(split.e) + log2_m);
    // The limits: zero and infinity have no logarithm, and 0 * infinity is none of the cases that are left here.
    const float limit = size == 0.0f ? -y : y;
    const float log2_limit = limit > 0.0f ? 130.0f : -160.0f;
    power = size == 0.0f ? log2_limit : power;
    power = size == kInfinity ? log2_limit : power;
    power = power >= -160.0 ? power : -160.0;
    power = power > 130.0 ? 130.0 : power;
    const double shifted = power + kRound64;
    const double f = power - (shifted - kRound64);
    const double p = Polynomial(f, 0.99999999996137801, 0.69314718072980763, 0.24022651201150397, 0.055504103503293933,
                                0.0096180268485063537, 0.0013333924053142599, 0.00015469422068391239,
                                1.5201812623769432e-05);
    const int32_t n = static_cast<int32_t>(static_cast<uint32_t>(Bits(shifted)));
    const int32_t half = n >> 1;
    const float result = static_cast<float>(
        p * static_cast<double>(FromBits(static_cast<uint32_t>(half + 127) << 23)) *
        static_cast<double>(FromBits(static_cast<uint32_t>(n - half + 127) << 23)));
    const float halves = 0.5f * y;
    const float whole = Round(y);
    const uint32_t sign = Round(halves) == halves ? 0u : Bits(x) & 0x80000000u;
    const float signed_result = FromBits(Bits(result) ^ (whole == y ? sign : 0u));
    // Of negative numbers there are only powers of integers.
    const float defined = whole == y ? signed_result : kNan;
    float checked = x < 0.0f ? defined : signed_result;
    checked = size < kInfinity ? checked : signed_result;
    checked = x == x ? checked : kNan;
    checked = y == y ? checked : kNan;
    const float of_one = Abs(y) == kInfinity ? 1.0f : checked;
    checked = size == 1.0f ? of_one : checked;
    checked = x == 1.0f ? 1.0f : checked;
    return y == 0.0f ? 1.0f : checked;
  }

  // x times the share of the normal distribution below x, by the error function, and as tanh approximates it; within
  // 2e-7 * |x|.
  static LITEFUSE_INLINE float Gelu(float x) { return 0.5f * x * (1.0f + Erf(0.707106781f * x)); }
  static LITEFUSE_INLINE float GeluTanh(float x) {
    return 0.5f * x * (1.0f + Tanh(0.797884561f * Fma(0.044715f * x * x, x, x)));
  }

  static LITEFUSE_INLINE double Round(double x) { return std::nearbyint(x); }
  static LITEFUSE_INLINE double Floor(double x) { return std::floor(x); }
  static LITEFUSE_INLINE double Ceil(double x) { return std::ceil(x); }
  static LITEFUSE_INLINE double Exp(double x) { return std::exp(x); }
  static LITEFUSE_INLINE double Expm1(double x) { return std::expm1(x); }
  static LITEFUSE_INLINE double Log(double x) { return std::log(x); }
  static LITEFUSE_INLINE double Log1p(double x) { return std::log1p(x); }
  static LITEFUSE_INLINE double Tanh(double x) { return std::tanh(x); }
  static LITEFUSE_INLINE double TanhOfSoftplus(double x) { return std::tanh(std::log1p(std::exp(x))); }
  static LITEFUSE_INLINE double Logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
  static LITEFUSE_INLINE double Erf(double x) { return std::erf(x); }
  static LITEFUSE_INLINE double Sin(double x) { return std::sin(x); }
  static LITEFUSE_INLINE double Cos(double x) { return std::cos(x); }
  static LITEFUSE_INLINE double Sqrt(double x) { return std::sqrt(x); }
  static LITEFUSE_INLINE double Rsqrt(double x) { return 1.0 / std::sqrt(x); }
  static LITEFUSE_INLINE double Hypot(double x, double y) { return std::hypot(x, y); }
  static LITEFUSE_INLINE double Pow(double x, double y) { return std::pow(x, y); }
  static LITEFUSE_INLINE double Gelu(double x) { return 0.5 * x * (1.0 + std::erf(0.70710678118654752 * x)); }
  static LITEFUSE_INLINE double GeluTanh(double x) {
    return 0.5 * x * (1.0 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
  }
};

#if defined(__aarch64__) || defined(__FMA__)
inline constexpr bool kFuses = true;
#else
inline constexpr bool kFuses = false;
#endif

// The same as functions, fused where all processors that this is compiled for have that.
#define LITEFUSE_MATH_FUNCTION(name)                \
  template <typename... T>                          \
  LITEFUSE_INLINE auto name(T... arguments) {       \
    return Functions<kFuses>::name(arguments...);   \
  }
LITEFUSE_MATH_FUNCTION(Round)
LITEFUSE_MATH_FUNCTION(Floor)
LITEFUSE_MATH_FUNCTION(Ceil)
LITEFUSE_MATH_FUNCTION(Exp)
LITEFUSE_MATH_FUNCTION(Expm1)
LITEFUSE_MATH_FUNCTION(Log)
LITEFUSE_MATH_FUNCTION(Log1p)
LITEFUSE_MATH_FUNCTION(Tanh)
LITEFUSE_MATH_FUNCTION(TanhOfSoftplus)
LITEFUSE_MATH_FUNCTION(Logistic)
LITEFUSE_MATH_FUNCTION(Erf)
LITEFUSE_MATH_FUNCTION(Sin)
LITEFUSE_MATH_FUNCTION(Cos)
LITEFUSE_MATH_FUNCTION(Sqrt)
LITEFUSE_MATH_FUNCTION(Rsqrt)
LITEFUSE_MATH_FUNCTION(Gelu)
LITEFUSE_MATH_FUNCTION(GeluTanh)
LITEFUSE_MATH_FUNCTION(Hypot)
LITEFUSE_MATH_FUNCTION(Pow)
#undef LITEFUSE_MATH_FUNCTION

}  // namespace litefuse::math

#endif  // LITEFUSE_VECTOR_MATH_H_
