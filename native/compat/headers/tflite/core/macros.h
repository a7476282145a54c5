#ifndef LITEFUSE_COMPAT_TFLITE_CORE_MACROS_H_
#define LITEFUSE_COMPAT_TFLITE_CORE_MACROS_H_

#define TFLITE_EXPECT_FALSE(condition) __builtin_expect(!!(condition), 0)
#define TFLITE_EXPECT_TRUE(condition) __builtin_expect(!!(condition), 1)
#define TFLITE_NOINLINE __attribute__((noinline))
#define TFLITE_ATTRIBUTE_WEAK __attribute__((weak))
#define TFLITE_HAS_ATTRIBUTE_WEAK 1
#define TFLITE_NO_SANITIZE_INTEGER_OVERFLOW

#endif  // LITEFUSE_COMPAT_TFLITE_CORE_MACROS_H_
