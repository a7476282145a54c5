// The 16-bit floating point types: storage, with conversion from and to float.
#ifndef LITEFUSE_HALF_H_
#define LITEFUSE_HALF_H_

#include <cstdint>
#include <cstring>

namespace litefuse {

namespace internal {

inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace internal

// IEEE 754 binary16.
class Float16 {
 public:
  Float16() = default;

  // Rounds to nearest, ties to even.
  explicit Float16(float value) {
    const uint32_t bits = internal::BitsOf(value);
    const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {  // not a number
      bits_ = static_cast<uint16_t>(sign | 0x7E00u);
    } else if (magnitude >= 0x477FF000u) {  // rounds to infinity
      bits_ = static_cast<uint16_t>(sign | 0x7C00u);
    } else if (magnitude >= 0x38800000u) {  // normal
      const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
      bits_ = static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
    } else {
      // Subnormal: adding 0.5 aligns the result's units with those of the sum, which rounds.
      const float sum = internal::FloatOf(magnitude) + 0.5f;
      bits_ = static_cast<uint16_t>(sign | (internal::BitsOf(sum) - internal::BitsOf(0.5f)));
    }
  }

  static Float16 FromBits(uint16_t bits) {
    Float16 value;
    value.bits_ = bits;
    return value;
  }

  explicit operator float() const {
    const uint32_t sign = (bits_ & 0x8000u) << 16;
    const uint32_t exponent = (bits_ >> 10) & 0x1Fu;
    const uint32_t mantissa = bits_ & 0x3FFu;
    if (exponent == 0x1Fu) return internal::FloatOf(sign | 0x7F800000u | (mantissa << 13));
    if (exponent != 0) return internal::FloatOf(sign | ((exponent + 112) << 23) | (mantissa << 13));
    const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // 2 to the power of -24
    return internal::FloatOf(sign | internal::BitsOf(magnitude));
  }

 private:
  uint16_t bits_ = 0;
};

// The upper half of a float.
class BFloat16 {
 public:
  BFloat16() = default;

  // Rounds to nearest, ties to even.
  explicit BFloat16(float value) {
    const uint32_t bits = internal::BitsOf(value);
    const bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
    bits_ = static_cast<uint16_t>((is_nan ? bits | 0x400000u : bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
  }

  explicit operator float() const { return internal::FloatOf(static_cast<uint32_t>(bits_) << 16); }

 private:
  uint16_t bits_ = 0;
};

}  // namespace litefuse

#endif  // LITEFUSE_HALF_H_
