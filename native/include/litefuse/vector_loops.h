// Loops that run with AVX2 and fused multiplications where the processor has them.
//
//   LITEFUSE_LOOP(AddRows, (const float* x, const float* y, float* sum, int64_t size), (x, y, sum, size)) {
//     for (int64_t i = 0; i < size; ++i) sum[i] = x[i] + y[i];
//   }
//
// defines the function `static void AddRows(const float* x, ...)`. On x86-64, where a compiler takes no more than SSE2
// for granted, its body is compiled twice, and a call takes the better one that the processor has. Elsewhere, and where
// the whole file is compiled for such processors, it is compiled once; on Windows by g++ as well, which does not align
// the stack there as vectors of AVX need it (GCC bug 54412).
//
// In the body, `math` has the functions of litefuse/vector_math.h, with fused multiplications where the processor has
// them. Other multiplications and additions round as they stand there.
#ifndef LITEFUSE_VECTOR_LOOPS_H_
#define LITEFUSE_VECTOR_LOOPS_H_

#if defined(__GNUC__)
#define LITEFUSE_INLINE inline __attribute__((always_inline))
#define LITEFUSE_RESTRICT __restrict__
#else
#define LITEFUSE_INLINE inline
#define LITEFUSE_RESTRICT
#endif

namespace litefuse::math {

template <bool kFused>
struct Functions;

}  // namespace litefuse::math

#if defined(__GNUC__) && defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__)) && \
    (defined(__clang__) || !defined(_WIN32))

namespace litefuse::internal {

inline bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

}  // namespace litefuse::internal

#define LITEFUSE_LOOP(name, parameters, arguments)                                        \
  template <typename math>                                                                \
  static LITEFUSE_INLINE void name##Body parameters;                                      \
  __attribute__((target("avx2,fma"), noinline)) static void name##Avx2 parameters {       \
    name##Body<litefuse::math::Functions<true>> arguments;                                \
  }                                                                                       \
  __attribute__((noinline)) static void name##Base parameters {                           \
    name##Body<litefuse::math::Functions<false>> arguments;                               \
  }                                                                                       \
  static inline void name parameters {                                                    \
    if (litefuse::internal::HasAvx2()) {                                                  \
      name##Avx2 arguments;                                                               \
    } else {                                                                              \
      name##Base arguments;                                                               \
    }                                                                                     \
  }                                                                                       \
  template <typename math>                                                                \
  static LITEFUSE_INLINE void name##Body parameters

#else

#define LITEFUSE_LOOP(name, parameters, arguments)                                        \
  template <typename math>                                                                \
  static LITEFUSE_INLINE void name##Body parameters;                                      \
  static inline void name parameters {                                                    \
    name##Body<litefuse::math::Functions<litefuse::math::kFuses>> arguments;              \
  }                                                                                       \
  template <typename math>                                                                \
  static LITEFUSE_INLINE void name##Body parameters

#endif

#endif  // LITEFUSE_VECTOR_LOOPS_H_
