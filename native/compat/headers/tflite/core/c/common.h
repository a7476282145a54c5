// The C structs of kernels with the functions and macros that go with them, for sources written for TensorFlow Lite.
#ifndef LITEFUSE_COMPAT_TFLITE_CORE_C_COMMON_H_
#define LITEFUSE_COMPAT_TFLITE_CORE_C_COMMON_H_

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <type_traits>

#include "litefuse/tflite.h"

#ifndef TFL_CAPI_EXPORT
#define TFL_CAPI_EXPORT __attribute__((visibility("default")))
#endif

namespace litefuse {
namespace compat {

// A value as text, for the message of a comparison that failed.
template <typename Value>
std::string Shown(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return std::to_string(static_cast<long long>(value));
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return std::to_string(value);
  } else {
    return "?";
  }
}

// An array of sizes, or of scales; the runtime frees it. Null if there is no memory.
template <typename Array, typename Element>
Array* CreateArray(int size) {
  if (size < 0) return nullptr;
  auto* made = static_cast<Array*>(malloc(sizeof(Array) + sizeof(Element) * static_cast<size_t>(size)));
  if (made != nullptr) made->size = size;
  return made;
}

template <typename Array, typename Element>
Array* CopyArray(const Array* from) {
  if (from == nullptr) return nullptr;
  Array* made = CreateArray<Array, Element>(from->size);
  if (made != nullptr) memcpy(made->data, from->data, sizeof(Element) * static_cast<size_t>(from->size));
  return made;
}

}  // namespace compat
}  // namespace litefuse

extern "C" {

inline size_t TfLiteIntArrayGetSizeInBytes(int size) {
  return sizeof(int) + sizeof(int) * static_cast<size_t>(size > 0 ? size : 0);
}
inline TfLiteIntArray* TfLiteIntArrayCreate(int size) {
  return litefuse::compat::CreateArray<TfLiteIntArray, int>(size);
}
inline TfLiteIntArray* TfLiteIntArrayCopy(const TfLiteIntArray* array) {
  return litefuse::compat::CopyArray<TfLiteIntArray, int>(array);
}
inline int TfLiteIntArrayEqualsArray(const TfLiteIntArray* a, int size, const int data[]) {
  if (a == nullptr) return size == 0;
  return a->size == size && (size == 0 || memcmp(a->data, data, sizeof(int) * static_cast<size_t>(size)) == 0);
}
inline int TfLiteIntArrayEqual(const TfLiteIntArray* a, const TfLiteIntArray* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return TfLiteIntArrayEqualsArray(a, b->size, b->data);
}
inline void TfLiteIntArrayFree(TfLiteIntArray* array) { free(array); }

inline int TfLiteFloatArrayGetSizeInBytes(int size) { return static_cast<int>(sizeof(int) + sizeof(float) * size); }
inline TfLiteFloatArray* TfLiteFloatArrayCreate(int size) {
  return litefuse::compat::CreateArray<TfLiteFloatArray, float>(size);
}
inline TfLiteFloatArray* TfLiteFloatArrayCopy(const TfLiteFloatArray* array) {
  return litefuse::compat::CopyArray<TfLiteFloatArray, float>(array);
}
inline void TfLiteFloatArrayFree(TfLiteFloatArray* array) { free(array); }

inline const char* TfLiteTypeGetName(TfLiteType type) {
  static const char* const names[] = {
      "NOTYPE", "FLOAT32", "INT32",    "UINT8",    "INT64",   "STRING", "BOOL",   "INT16", "COMPLEX64", "INT8",  "FLOAT16",
      "FLOAT64", "COMPLEX128", "UINT64", "RESOURCE", "VARIANT", "UINT32", "UINT16", "INT4",  "BFLOAT16",  "INT2", "UINT4",
      "FLOAT8_E4M3FN", "FLOAT8_E5M2"};
  const auto index = static_cast<size_t>(type);
  return index < sizeof(names) / sizeof(names[0]) ? names[index] : "Unknown type";
}

// Frees the memory of a tensor whose memory is its own.
inline void TfLiteTensorDataFree(TfLiteTensor* tensor) {
  if (tensor == nullptr) return;
  if (tensor->allocation_type == kTfLiteDynamic || tensor->allocation_type == kTfLitePersistentRo) {
    free(tensor->data.raw);
  }
  tensor->data.raw = nullptr;
}

// Gives such a tensor memory of a size, which keeps what was in it if `preserve_data`. It does not shrink.
inline TfLiteStatus TfLiteTensorResizeMaybeCopy(size_t bytes, TfLiteTensor* tensor, bool preserve_data) {
  if (tensor == nullptr) return kTfLiteError;
  if (tensor->allocation_type != kTfLiteDynamic && tensor->allocation_type != kTfLitePersistentRo) return kTfLiteOk;
  if (tensor->data.raw == nullptr || bytes > tensor->bytes) {
    void* made = preserve_data ? realloc(tensor->data.raw, bytes) : malloc(bytes);
    if (made == nullptr && bytes != 0) return kTfLiteError;
    if (!preserve_data) free(tensor->data.raw);
    tensor->data.data = made;
  }
  tensor->bytes = bytes;
  return kTfLiteOk;
}
inline TfLiteStatus TfLiteTensorRealloc(size_t bytes, TfLiteTensor* tensor) {
  return TfLiteTensorResizeMaybeCopy(bytes, tensor, true);
}

// Copies shape and contents; both have memory of the same size.
inline TfLiteStatus TfLiteTensorCopy(const TfLiteTensor* from, TfLiteTensor* to) {
  if (from == nullptr || to == nullptr || from == to) return kTfLiteOk;
  if (from->bytes != to->bytes) return kTfLiteError;
  to->type = from->type;
  if (to->dims != nullptr) TfLiteIntArrayFree(to->dims);
  to->dims = TfLiteIntArrayCopy(from->dims);
  if (from->bytes > 0) memcpy(to->data.raw, from->data.raw, from->bytes);
  to->buffer_handle = from->buffer_handle;
  to->data_is_stale = from->data_is_stale;
  to->delegate = from->delegate;
  return kTfLiteOk;
}

// What init returns when it failed.
inline void* TfLiteKernelInitFailed() { return reinterpret_cast<void*>(-1); }

}  // extern "C"

#define TF_LITE_KERNEL_LOG(context, ...)            \
  do {                                              \
    (context)->ReportError((context), __VA_ARGS__); \
  } while (false)

#define TF_LITE_MAYBE_KERNEL_LOG(context, ...)                                \
  do {                                                                        \
    if ((context) != nullptr) (context)->ReportError((context), __VA_ARGS__); \
  } while (false)

#define TF_LITE_ENSURE_MSG(context, value, ...)                \
  do {                                                         \
    if (!(value)) {                                            \
      TF_LITE_KERNEL_LOG((context), __FILE__ " " __VA_ARGS__); \
      return kTfLiteError;                                     \
    }                                                          \
  } while (false)

#define TF_LITE_ENSURE(context, value)                                                       \
  do {                                                                                       \
    if (!(value)) {                                                                          \
      TF_LITE_KERNEL_LOG((context), "%s:%d %s was not true.", __FILE__, __LINE__, #value);   \
      return kTfLiteError;                                                                   \
    }                                                                                        \
  } while (false)

#define TF_LITE_ENSURE_STATUS(status)                    \
  do {                                                   \
    const TfLiteStatus litefuse_status = (status);       \
    if (litefuse_status != kTfLiteOk) return litefuse_status; \
  } while (false)

#define LITEFUSE_COMPAT_ENSURE(context, condition, relation, a, b, shown_a, shown_b)                              \
  do {                                                                                                            \
    if (!(condition)) {                                                                                           \
      TF_LITE_KERNEL_LOG((context), "%s:%d %s " relation " %s (%s " relation " %s)", __FILE__, __LINE__, #a, #b,  \
                         shown_a, shown_b);                                                                       \
      return kTfLiteError;                                                                                        \
    }                                                                                                             \
  } while (false)

#define TF_LITE_ENSURE_EQ(context, a, b)                                                                   \
  LITEFUSE_COMPAT_ENSURE(context, (a) == (b), "!=", a, b, litefuse::compat::Shown(a).c_str(),              \
                         litefuse::compat::Shown(b).c_str())
#define TF_LITE_ENSURE_NE(context, a, b)                                                                   \
  LITEFUSE_COMPAT_ENSURE(context, (a) != (b), "==", a, b, litefuse::compat::Shown(a).c_str(),              \
                         litefuse::compat::Shown(b).c_str())
#define TF_LITE_ENSURE_TYPES_EQ(context, a, b) \
  LITEFUSE_COMPAT_ENSURE(context, (a) == (b), "!=", a, b, TfLiteTypeGetName(a), TfLiteTypeGetName(b))
#define TF_LITE_ENSURE_NEAR(context, a, b, epsilon)                                                               \
  LITEFUSE_COMPAT_ENSURE(context, (((a) > (b)) ? ((a) - (b)) : ((b) - (a))) <= (epsilon), "not near", a, b,       \
                         litefuse::compat::Shown(a).c_str(), litefuse::compat::Shown(b).c_str())

// `status`, and maybe the format and the values of a message.
#define LITEFUSE_COMPAT_TEXT_OF(line) #line
#define LITEFUSE_COMPAT_TEXT(line) LITEFUSE_COMPAT_TEXT_OF(line)
#define LITEFUSE_COMPAT_FIRST(first, ...) first
#define TF_LITE_ENSURE_OK(context, status, ...)                                                                  \
  do {                                                                                                           \
    const TfLiteStatus litefuse_status = (status);                                                               \
    if (litefuse_status != kTfLiteOk) {                                                                          \
      if (sizeof(LITEFUSE_COMPAT_FIRST("" __VA_ARGS__, 0)) > 1) {                                                \
        TF_LITE_MAYBE_KERNEL_LOG((context), __FILE__ ":" LITEFUSE_COMPAT_TEXT(__LINE__) ": " __VA_ARGS__);       \
      }                                                                                                          \
      return litefuse_status;                                                                                    \
    }                                                                                                            \
  } while (false)

#define TFL_UNREACHABLE() (__builtin_unreachable())

#endif  // LITEFUSE_COMPAT_TFLITE_CORE_C_COMMON_H_
