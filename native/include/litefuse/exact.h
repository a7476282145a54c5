// Sizes that generated kernels compute in Prepare from the sizes of their inputs: without overflow.
#ifndef LITEFUSE_EXACT_H_
#define LITEFUSE_EXACT_H_

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace litefuse {

// An integer of 64 bits, or none where a result is beyond them. What is computed of none is none, and it compares as
// false.
class Exact {
 public:
  Exact(int64_t value) : value_(value) {}  // NOLINT  numbers stand beside sizes
  static Exact None() {
    Exact none(0);
    none.is_there_ = false;
    return none;
  }

  bool is_there() const { return is_there_; }
  int64_t value() const { return value_; }
  explicit operator bool() const { return is_there_ && value_ != 0; }
  // Sets a size; false where there is none.
  bool To(int64_t* size) const {
    *size = value_;
    return is_there_;
  }

 private:
  int64_t value_;
  bool is_there_ = true;
};

inline Exact operator+(Exact a, Exact b) {
  if (!a.is_there() || !b.is_there()) return Exact::None();
  using Limits = std::numeric_limits<int64_t>;
  const bool beyond = b.value() > 0 ? a.value() > Limits::max() - b.value() : a.value() < Limits::min() - b.value();
  return beyond ? Exact::None() : Exact(a.value() + b.value());
}

inline Exact operator*(Exact a, Exact b) {
  if (!a.is_there() || !b.is_there()) return Exact::None();
  const int64_t left = a.value(), right = b.value();
  if (left == 0 || right == 0) return Exact(0);
  using Limits = std::numeric_limits<int64_t>;
  const int64_t limit = (left < 0) == (right < 0) ? Limits::max() : Limits::min();
  const bool beyond = right == -1 ? left == Limits::min()
                      : left > 0  ? (right > 0 ? left > limit / right : right < limit / left)
                                  : (right > 0 ? left < limit / right : left < limit / right);
  return beyond ? Exact::None() : Exact(left * right);
}

inline Exact operator-(Exact a, Exact b) { return a + b * Exact(-1); }

// Quotients and rests, truncated and rounded down; none where the divisor is 0.
inline Exact Truncated(Exact a, Exact b) {
  if (!a.is_there() || !b) return Exact::None();
  return b.value() == -1 ? a * Exact(-1) : Exact(a.value() / b.value());
}
inline Exact FlooredRest(Exact a, Exact b) {
  if (!a.is_there() || !b) return Exact::None();
  const int64_t rest = b.value() == -1 ? 0 : a.value() % b.value();
  return rest != 0 && (rest < 0) != (b.value() < 0) ? Exact(rest + b.value()) : Exact(rest);
}
inline Exact Floored(Exact a, Exact b) {
  const Exact rest = FlooredRest(a, b);
  const bool is_less = rest && (a.value() < 0) != (b.value() < 0);
  return is_less ? Truncated(a, b) - Exact(1) : Truncated(a, b);
}

#define LITEFUSE_EXACT_COMPARISON(sign)                                                     \
  inline Exact operator sign(Exact a, Exact b) {                                            \
    return a.is_there() && b.is_there() ? Exact(a.value() sign b.value()) : Exact::None();  \
  }
LITEFUSE_EXACT_COMPARISON(==)
LITEFUSE_EXACT_COMPARISON(!=)
LITEFUSE_EXACT_COMPARISON(<)
LITEFUSE_EXACT_COMPARISON(<=)
LITEFUSE_EXACT_COMPARISON(>)
LITEFUSE_EXACT_COMPARISON(>=)
#undef LITEFUSE_EXACT_COMPARISON

inline Exact Chosen(Exact condition, Exact a, Exact b) {
  return !condition.is_there() ? condition : condition.value() != 0 ? a : b;
}
inline Exact LargerOf(Exact a, Exact b) { return Chosen(a > b, a, b); }
inline Exact SmallerOf(Exact a, Exact b) { return Chosen(a < b, a, b); }

// Whether the elements of a tensor can be counted, and those of its parts where it has none: loops multiply sizes.
inline bool IsCountable(std::initializer_list<Exact> sizes) {
  Exact count = 1;
  for (const Exact size : sizes) count = count * LargerOf(size, 1);
  return count.is_there();
}

}  // namespace litefuse

#endif  // LITEFUSE_EXACT_H_
