// What ends a program whose assumptions do not hold.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_OP_MACROS_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_OP_MACROS_H_

#include <cstdio>
#include <cstdlib>

#define TFLITE_ABORT abort()

#ifdef NDEBUG
#define TFLITE_ASSERT_FALSE (static_cast<void>(0))
#else
#define TFLITE_ASSERT_FALSE TFLITE_ABORT
#endif

#define TF_LITE_FATAL(message)          \
  do {                                  \
    fprintf(stderr, "%s\n", (message)); \
    TFLITE_ABORT;                       \
  } while (false)

#define TF_LITE_ASSERT(condition)                \
  do {                                           \
    if (!(condition)) TF_LITE_FATAL(#condition); \
  } while (false)

#define TF_LITE_ASSERT_EQ(a, b)                           \
  do {                                                    \
    if ((a) != (b)) TF_LITE_FATAL(#a " is not equal to " #b); \
  } while (false)

#define TF_LITE_UNSUPPORTED_TYPE(context, type, op)                                                         \
  do {                                                                                                      \
    TF_LITE_KERNEL_LOG((context), "%s:%d Type %s is unsupported by op %s.", __FILE__, __LINE__,              \
                       TfLiteTypeGetName(type), (op));                                                      \
    return kTfLiteError;                                                                                    \
  } while (false)

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_OP_MACROS_H_
