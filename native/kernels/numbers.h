// The types of numbers: which of them a tensor holds, and what arithmetic on them is done in.
#ifndef LITEFUSE_KERNELS_NUMBERS_H_
#define LITEFUSE_KERNELS_NUMBERS_H_

#include <complex>
#include <cstdint>
#include <type_traits>

#include "litefuse/half.h"
#include "litefuse/tflite.h"

namespace litefuse {

template <typename T>
struct Type {
  using type = T;
};

// The type of arithmetic on elements of T whose every result is then stored as a T: float for the 16-bit floating point
// types; unsigned for integers, since signed ones must not overflow.
template <typename T>
struct Arithmetic {
  using type = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
};
template <>
struct Arithmetic<Float16> {
  using type = float;
};
template <>
struct Arithmetic<BFloat16> {
  using type = float;
};

// Each calls visit(Type<T>()) for the C++ type of the tensor's elements, and returns what that does; false for a type
// that is not one of them.
template <typename Visit>
bool VisitFloats(TfLiteType type, Visit visit) {
  switch (type) {
    case kTfLiteFloat16: return visit(Type<Float16>());
    case kTfLiteBFloat16: return visit(Type<BFloat16>());
    case kTfLiteFloat32: return visit(Type<float>());
    case kTfLiteFloat64: return visit(Type<double>());
    default: return false;
  }
}

template <typename Visit>
bool VisitComplex(TfLiteType type, Visit visit) {
  switch (type) {
    case kTfLiteComplex64: return visit(Type<std::complex<float>>());
    case kTfLiteComplex128: return visit(Type<std::complex<double>>());
    default: return false;
  }
}

template <typename Visit>
bool VisitIntegers(TfLiteType type, Visit visit) {
  switch (type) {
    case kTfLiteInt8: return visit(Type<int8_t>());
    case kTfLiteInt16: return visit(Type<int16_t>());
    case kTfLiteInt32: return visit(Type<int32_t>());
    case kTfLiteInt64: return visit(Type<int64_t>());
    case kTfLiteUInt8: return visit(Type<uint8_t>());
    case kTfLiteUInt16: return visit(Type<uint16_t>());
    case kTfLiteUInt32: return visit(Type<uint32_t>());
    case kTfLiteUInt64: return visit(Type<uint64_t>());
    default: return false;
  }
}

}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_NUMBERS_H_
