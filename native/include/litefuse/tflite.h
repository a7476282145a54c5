/* The part of LiteRT's C interface for kernels and delegates that the kernel pack uses.
 *
 * By default the structs are declared here, so that the pack compiles without LiteRT's sources. In an app that has
 * them, define LITEFUSE_USE_TFLITE_HEADERS and the real headers take their place.
 *
 * Source of the layouts: tflite/core/c/common.h and builtin_op_data.h of LiteRT. litefuse compares them with the
 * installed runtime before it loads the library; an app that is built against the real headers needs no check.
 * Structs that only the runtime creates are declared up to the last field that is used. */
#ifndef LITEFUSE_TFLITE_H_
#define LITEFUSE_TFLITE_H_

#ifdef LITEFUSE_USE_TFLITE_HEADERS

#if __has_include("tflite/core/c/common.h")
#include "tflite/builtin_ops.h"
#include "tflite/core/c/builtin_op_data.h"
#include "tflite/core/c/common.h"
#else
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"
#endif

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { kTfLiteOk = 0, kTfLiteError = 1 } TfLiteStatus;

/* Not the numbers that the flatbuffer uses. */
typedef enum {
  kTfLiteNoType = 0,
  kTfLiteFloat32 = 1,
  kTfLiteInt32 = 2,
  kTfLiteUInt8 = 3,
  kTfLiteInt64 = 4,
  kTfLiteString = 5,
  kTfLiteBool = 6,
  kTfLiteInt16 = 7,
  kTfLiteComplex64 = 8,
  kTfLiteInt8 = 9,
  kTfLiteFloat16 = 10,
  kTfLiteFloat64 = 11,
  kTfLiteComplex128 = 12,
  kTfLiteUInt64 = 13,
  kTfLiteResource = 14,
  kTfLiteVariant = 15,
  kTfLiteUInt32 = 16,
  kTfLiteUInt16 = 17,
  kTfLiteInt4 = 18,
  kTfLiteBFloat16 = 19
} TfLiteType;

typedef enum {
  kTfLiteMemNone = 0,
  kTfLiteMmapRo = 1,
  kTfLiteArenaRw = 2,
  kTfLiteArenaRwPersistent = 3,
  kTfLiteDynamic = 4,
  kTfLitePersistentRo = 5
} TfLiteAllocationType;

enum {
  kTfLiteBuiltinCustom = 32,
  kTfLiteBuiltinDelegate = 51,
  kTfLiteBuiltinStablehloComposite = 206
};

enum { kTfLiteDelegateFlagsNone = 0, kTfLiteDelegateFlagsAllowDynamicTensors = 1 };

/* `size` numbers stand in `data`. */
typedef struct TfLiteIntArray {
  int size;
#if defined(__GNUC__)
  __extension__ int data[];
#else
  int data[1];
#endif
} TfLiteIntArray;

/* Likewise. */
typedef struct TfLiteFloatArray {
  int size;
#if defined(__GNUC__)
  __extension__ float data[];
#else
  float data[1];
#endif
} TfLiteFloatArray;

typedef union {
  void* data;
  char* raw;
} TfLitePtrUnion;

/* The former parameters of a whole tensor; the scale is 0 if it has none. */
typedef struct {
  float scale;
  int32_t zero_point;
} TfLiteQuantizationParams;

enum {
  kTfLiteNoQuantization = 0,
  kTfLiteAffineQuantization = 1, /* `params` is a TfLiteAffineQuantization */
  kTfLiteBlockwiseQuantization = 2,
  kTfLiteMultiAxisQuantization = 3
};

typedef struct {
  int type;
  void* params;
} TfLiteQuantization;

/* One scale and zero point, or one of each for each slice along a dimension; or one zero point for all of them. */
typedef struct TfLiteAffineQuantization {
  TfLiteFloatArray* scale;
  TfLiteIntArray* zero_point;
  int32_t quantized_dimension;
} TfLiteAffineQuantization;

struct TfLiteDelegate;

typedef struct TfLiteTensor {
  TfLiteType type;
  TfLitePtrUnion data;
  TfLiteIntArray* dims;
  TfLiteQuantizationParams params;
  TfLiteAllocationType allocation_type;
  size_t bytes;
  const void* allocation;
  const char* name;
  struct TfLiteDelegate* delegate;
  int buffer_handle;
  bool data_is_stale;
  bool is_variable;
  TfLiteQuantization quantization;
  void* sparsity;
  const TfLiteIntArray* dims_signature;
} TfLiteTensor;

typedef struct TfLiteNode {
  TfLiteIntArray* inputs; /* indices of tensors, -1 for an absent one */
  TfLiteIntArray* outputs;
  TfLiteIntArray* intermediates;
  TfLiteIntArray* temporaries;
  void* user_data;
  void* builtin_data;
  const void* custom_initial_data;
  int custom_initial_data_size;
  struct TfLiteDelegate* delegate;
  bool might_have_side_effect;
} TfLiteNode;

typedef struct TfLiteContext TfLiteContext;

typedef struct TfLiteRegistration {
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* buffer);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);
  int32_t builtin_code;
  const char* custom_name;
  int version;
  void* registration_external;
  void* async_kernel;
  uint64_t inplace_operator;
} TfLiteRegistration;

struct TfLiteContext {
  size_t tensors_size;
  TfLiteStatus (*GetExecutionPlan)(TfLiteContext* context, TfLiteIntArray** execution_plan);
  TfLiteTensor* tensors;
  void* impl_;
  TfLiteStatus (*ResizeTensor)(TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* new_size);
  void (*ReportError)(TfLiteContext* context, const char* format, ...);
  TfLiteStatus (*AddTensors)(TfLiteContext* context, int tensors_to_add, int* first_new_tensor_index);
  TfLiteStatus (*GetNodeAndRegistration)(TfLiteContext* context, int node_index, TfLiteNode** node,
                                         TfLiteRegistration** registration);
  TfLiteStatus (*ReplaceNodeSubsetsWithDelegateKernels)(TfLiteContext* context, TfLiteRegistration registration,
                                                        const TfLiteIntArray* nodes_to_replace,
                                                        struct TfLiteDelegate* delegate);
  int recommended_num_threads;
};

typedef struct TfLiteDelegate {
  void* data_;
  TfLiteStatus (*Prepare)(TfLiteContext* context, struct TfLiteDelegate* delegate);
  TfLiteStatus (*CopyFromBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate, int buffer_handle,
                                       TfLiteTensor* tensor);
  TfLiteStatus (*CopyToBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate, int buffer_handle,
                                     TfLiteTensor* tensor);
  void (*FreeBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate, int* handle);
  int64_t flags;
  void* opaque_delegate_builder;
} TfLiteDelegate;

/* What `init` of a delegate's kernel gets as its buffer. */
typedef struct TfLiteDelegateParams {
  TfLiteDelegate* delegate;
  TfLiteIntArray* nodes_to_replace;
  TfLiteIntArray* input_tensors;
  TfLiteIntArray* output_tensors;
} TfLiteDelegateParams;

/* The builtin_data of STABLEHLO_COMPOSITE. */
typedef struct {
  const char* name;
  int32_t subgraph_index;
  const uint8_t* attributes;
  size_t attributes_size;
  int32_t version;
} TfLiteStablehloCompositeParams;

#ifdef __cplusplus
}
#endif

#endif /* LITEFUSE_USE_TFLITE_HEADERS */

#endif /* LITEFUSE_TFLITE_H_ */
