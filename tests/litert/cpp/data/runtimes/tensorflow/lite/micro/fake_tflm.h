// The part of tflite-micro's interface that litefuse/micro.h uses, for machines without its sources; the layouts of the
// structs are those without dynamic memory (TF_LITE_STATIC_MEMORY), which differ from LiteRT's.
#ifndef FAKE_TFLM_H_
#define FAKE_TFLM_H_

#include <cstddef>
#include <cstdint>

enum TfLiteStatus { kTfLiteOk = 0, kTfLiteError = 1 };
enum TfLiteType { kTfLiteFloat32 = 1, kTfLiteInt32 = 2, kTfLiteInt64 = 4, kTfLiteString = 5, kTfLiteInt8 = 9 };
enum TfLiteAllocationType { kTfLiteMemNone = 0, kTfLiteMmapRo = 1, kTfLiteArenaRw = 2 };
enum TfLiteQuantizationType { kTfLiteNoQuantization = 0, kTfLiteAffineQuantization = 1 };
struct TfLiteIntArray {
  int size;
  __extension__ int data[];
};
struct TfLiteFloatArray {
  int size;
  __extension__ float data[];
};
struct TfLiteQuantization {
  TfLiteQuantizationType type;
  void* params;
};
struct TfLiteAffineQuantization {
  TfLiteFloatArray* scale;
  TfLiteIntArray* zero_point;
  int32_t quantized_dimension;
};
union TfLitePtrUnion {
  void* data;
};
struct TfLiteTensor {
  TfLiteQuantization quantization;
  TfLitePtrUnion data;
  TfLiteIntArray* dims;
  size_t bytes;
  TfLiteType type;
  TfLiteAllocationType allocation_type;
  bool is_variable;
};
struct TfLiteEvalTensor {
  TfLitePtrUnion data;
  TfLiteIntArray* dims;
  TfLiteType type;
};
struct TfLiteNode {
  TfLiteIntArray* inputs;
  TfLiteIntArray* outputs;
  void* user_data;
};
struct TfLiteContext {
  void* impl_;
};
struct TFLMRegistration {
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* buffer);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  void (*reset)(TfLiteContext* context, void* buffer);
  int32_t builtin_code;
  const char* custom_name;
};

void MicroPrintf(const char* format, ...);

namespace tflite {

class MicroContext {
 public:
  virtual ~MicroContext() = default;
  virtual TfLiteTensor* AllocateTempTfLiteTensor(int index) = 0;
  virtual void DeallocateTempTfLiteTensor(TfLiteTensor* tensor) = 0;
  virtual TfLiteEvalTensor* GetEvalTensor(int index) = 0;
  TfLiteTensor* AllocateTempInputTensor(const TfLiteNode* node, int index) {
    return AllocateTempTfLiteTensor(node->inputs->data[index]);
  }
  TfLiteTensor* AllocateTempOutputTensor(const TfLiteNode* node, int index) {
    return AllocateTempTfLiteTensor(node->outputs->data[index]);
  }
};

inline MicroContext* GetMicroContext(const TfLiteContext* context) { return static_cast<MicroContext*>(context->impl_); }

inline TfLiteStatus TfLiteTypeSizeOf(TfLiteType type, size_t* size) {
  *size = type == kTfLiteInt64 ? 8 : type == kTfLiteInt8 ? 1 : 4;
  return type == kTfLiteString ? kTfLiteError : kTfLiteOk;
}

namespace micro {
inline const TfLiteEvalTensor* GetEvalInput(const TfLiteContext* context, const TfLiteNode* node, int index) {
  return GetMicroContext(context)->GetEvalTensor(node->inputs->data[index]);
}
inline TfLiteEvalTensor* GetEvalOutput(const TfLiteContext* context, const TfLiteNode* node, int index) {
  return GetMicroContext(context)->GetEvalTensor(node->outputs->data[index]);
}
}  // namespace micro

}  // namespace tflite

#endif  // FAKE_TFLM_H_
