// Functions of rows, for generated kernels: the places of the largest elements, and Fourier transforms.
//
// Each takes a row, a row of the result, and memory to work with: so many elements as is said there.
#ifndef LITEFUSE_ROWS_H_
#define LITEFUSE_ROWS_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>

#include "litefuse/vector_loops.h"

namespace litefuse::rows {

// The places of the `count` largest elements, the largest first, and of equal ones the first; NaNs are the least. Works
// with `size` elements.
template <typename T>
void LargestPlaces(const T* row, int64_t size, int32_t* places, int64_t count, int32_t* work) {
  if (count <= 0) return;
  const auto is_before = [row](int32_t one, int32_t other) {
    const T a = row[one], b = row[other];
    if (a > b || a < b) return a > b;
    return (a == a) != (b == b) ? a == a : one < other;
  };
  // A few are kept in order. Of more, all that may be among them are collected, until that is too many.
  constexpr int64_t kBlock = 32, kFew = 16;
  const int64_t capacity = count <= kFew ? count : std::min(size, 2 * count);
  int64_t candidates = 0;
  bool is_limited = false;  // whether only what is larger can be among them
  T limit{};
  const auto set_limit = [&](int32_t least) {
    limit = row[least];
    is_limited = limit == limit;
  };
  for (int64_t start = 0; start < size; start += kBlock) {
    const int64_t end = std::min(start + kBlock, size);
    if (is_limited) {
      int larger = 0;
      for (int64_t i = start; i < end; ++i) larger |= row[i] > limit;
      if (!larger) continue;
    }
    for (int64_t i = start; i < end; ++i) {
      if (is_limited && !(row[i] > limit)) continue;
      const int32_t place = static_cast<int32_t>(i);
      if (count <= kFew) {
        if (candidates == count && !is_before(place, work[count - 1])) continue;
        int64_t to = candidates < count ? candidates++ : count - 1;
        for (; to > 0 && is_before(place, work[to - 1]); --to) work[to] = work[to - 1];
        work[to] = place;
        if (candidates == count) set_limit(work[count - 1]);
        continue;
      }
      if (candidates == capacity) {
        std::nth_element(work, work + count - 1, work + candidates, is_before);
        candidates = count;
        set_limit(work[count - 1]);
        if (is_limited && !(row[i] > limit)) continue;
      }
      work[candidates++] = place;
    }
  }
  if (count > kFew) {
    std::nth_element(work, work + count - 1, work + candidates, is_before);
    std::sort(work, work + count, is_before);
  }
  std::copy(work, work + count, places);
}

// The numbers exp(-2 pi i k / kLength).
template <int64_t kLength>
struct Roots {
  double real[kLength], imaginary[kLength];
};
template <int64_t kLength>
const Roots<kLength>& RootsOfUnity() {
  static const Roots<kLength> roots = [] {
    Roots<kLength> made;
    for (int64_t k = 0; k < kLength; ++k) {
      const double angle = -6.283185307179586476925 * static_cast<double>(k) / kLength;
      made.real[k] = std::cos(angle);
      made.imaginary[k] = std::sin(angle);
    }
    return made;
  }();
  return roots;
}

// The Fourier transform of `kLength / kStep` numbers, a power of 2, by Stockham's method with radix 4: the result lies
// behind the numbers, or in their place; returns where. `work`: real parts, imaginary parts, and as much behind them.
template <int64_t kLength, int64_t kStep>
LITEFUSE_INLINE const double* Transform(double* work) {
  constexpr int64_t kSize = kLength / kStep;
  const Roots<kLength>& roots = RootsOfUnity<kLength>();
  double *from = work, *to = work + 2 * kSize;
  int64_t left = kSize, stride = 1;
  for (; left >= 4; left /= 4, stride *= 4) {
    const int64_t quarter = left / 4;
    for (int64_t p = 0; p < quarter; ++p) {
      const int64_t k = p * (kLength / left);
      const double r1 = roots.real[k], r2 = roots.real[2 * k], r3 = roots.real[3 * k];
      const double i1 = roots.imaginary[k], i2 = roots.imaginary[2 * k], i3 = roots.imaginary[3 * k];
      const double* LITEFUSE_RESTRICT re = from + stride * p;
      const double* LITEFUSE_RESTRICT im = re + kSize;
      double* LITEFUSE_RESTRICT real = to + stride * 4 * p;
      double* LITEFUSE_RESTRICT imaginary = real + kSize;
      const int64_t b = stride * quarter, c = 2 * b, d = 3 * b;
#pragma omp simd
      for (int64_t q = 0; q < stride; ++q) {
        const double sum_r = re[q] + re[c + q], sum_i = im[q] + im[c + q];
        const double rest_r = re[q] - re[c + q], rest_i = im[q] - im[c + q];
        const double other_r = re[b + q] + re[d + q], other_i = im[b + q] + im[d + q];
        const double turned_r = im[d + q] - im[b + q], turned_i = re[b + q] - re[d + q];
        const double one_r = rest_r - turned_r, one_i = rest_i - turned_i;
        const double two_r = sum_r - other_r, two_i = sum_i - other_i;
        const double three_r = rest_r + turned_r, three_i = rest_i + turned_i;
        real[q] = sum_r + other_r;
        imaginary[q] = sum_i + other_i;
        real[stride + q] = one_r * r1 - one_i * i1;
        imaginary[stride + q] = one_r * i1 + one_i * r1;
        real[2 * stride + q] = two_r * r2 - two_i * i2;
        imaginary[2 * stride + q] = two_r * i2 + two_i * r2;
        real[3 * stride + q] = three_r * r3 - three_i * i3;
        imaginary[3 * stride + q] = three_r * i3 + three_i * r3;
      }
    }
    std::swap(from, to);
  }
  if (left == 2) {
    for (int64_t part = 0; part < 2 * kSize; part += kSize) {
      for (int64_t q = part; q < part + stride; ++q) {
        to[q] = from[q] + from[stride + q];
        to[stride + q] = from[q] - from[stride + q];
      }
    }
    std::swap(from, to);
  }
  return from;
}

// The transform of a row of `kLength` numbers. Works with 4 * kLength elements.
template <int64_t kLength>
LITEFUSE_INLINE void Fourier(const std::complex<float>* row, int64_t, std::complex<float>* bins, int64_t,
                             double* work) {
  for (int64_t i = 0; i < kLength; ++i) {
    work[i] = row[i].real();
    work[kLength + i] = row[i].imag();
  }
  const double* made = Transform<kLength, 1>(work);
  for (int64_t i = 0; i < kLength; ++i) {
    bins[i] = {static_cast<float>(made[i]), static_cast<float>(made[kLength + i])};
  }
}

// The first half of the transform, and the bin behind it, of a row that is cut to `kLength` real numbers, or filled up
// with zeros: from that of half as many complex numbers, whose real and imaginary parts are the even and the odd
// elements. Works with 2 * kLength elements.
template <int64_t kLength>
LITEFUSE_INLINE void RealFourier(const float* row, int64_t size, std::complex<float>* bins, int64_t, double* work) {
  constexpr int64_t kHalf = kLength / 2;
  const int64_t count = std::min(size, kLength), pairs = count / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    work[i] = row[2 * i];
    work[kHalf + i] = row[2 * i + 1];
  }
  for (int64_t i = pairs; i < kHalf; ++i) {
    work[i] = 2 * i < count ? row[2 * i] : 0.0;
    work[kHalf + i] = 0.0;
  }
  const double* real = Transform<kLength, 2>(work);
  const double* imaginary = real + kHalf;
  const Roots<kLength>& roots = RootsOfUnity<kLength>();
  bins[0] = {static_cast<float>(real[0] + imaginary[0]), 0.0f};
  bins[kHalf] = {static_cast<float>(real[0] - imaginary[0]), 0.0f};
  for (int64_t k = 1; k < kHalf; ++k) {
    const double even_r = real[k] + real[kHalf - k], even_i = imaginary[k] - imaginary[kHalf - k];
    const double odd_r = imaginary[k] + imaginary[kHalf - k], odd_i = real[kHalf - k] - real[k];
    bins[k] = {static_cast<float>(0.5 * (even_r + odd_r * roots.real[k] - odd_i * roots.imaginary[k])),
               static_cast<float>(0.5 * (even_i + odd_r * roots.imaginary[k] + odd_i * roots.real[k]))};
  }
}

}  // namespace litefuse::rows

#endif  // LITEFUSE_ROWS_H_
