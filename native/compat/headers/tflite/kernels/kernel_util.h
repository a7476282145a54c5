// The tensors of a node, their sizes and how they are allocated.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_KERNEL_UTIL_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_KERNEL_UTIL_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "tflite/core/c/builtin_op_data.h"
#include "tflite/core/c/common.h"
#include "tflite/kernels/internal/quantization_util.h"

namespace tflite {

// A tensor that an array of indices names; null where there is none, such as an input that is absent.
inline TfLiteTensor* TensorAt(const TfLiteContext* context, const TfLiteIntArray* indices, int index) {
  if (indices == nullptr || index < 0 || index >= indices->size || indices->data[index] < 0) return nullptr;
  if (context->tensors == nullptr) return context->GetTensor(context, indices->data[index]);
  return &context->tensors[indices->data[index]];
}
inline TfLiteStatus TensorAtSafe(const TfLiteContext* context, const TfLiteIntArray* indices, int index,
                                 const char* what, TfLiteTensor** tensor) {
  *tensor = TensorAt(context, indices, index);
  if (*tensor != nullptr) return kTfLiteOk;
  TF_LITE_KERNEL_LOG(const_cast<TfLiteContext*>(context), "%s %d is missing", what, index);
  return kTfLiteError;
}

inline const TfLiteTensor* GetInput(const TfLiteContext* context, const TfLiteNode* node, int index) {
  return TensorAt(context, node->inputs, index);
}
inline TfLiteStatus GetInputSafe(const TfLiteContext* context, const TfLiteNode* node, int index,
                                 const TfLiteTensor** tensor) {
  TfLiteTensor* found;
  const TfLiteStatus status = TensorAtSafe(context, node->inputs, index, "input", &found);
  *tensor = found;
  return status;
}
inline const TfLiteTensor* GetOptionalInputTensor(const TfLiteContext* context, const TfLiteNode* node, int index) {
  return TensorAt(context, node->inputs, index);
}
// A tensor that keeps its value from call to call; null if this input is none.
inline TfLiteTensor* GetVariableInput(TfLiteContext* context, const TfLiteNode* node, int index) {
  TfLiteTensor* tensor = TensorAt(context, node->inputs, index);
  return tensor != nullptr && tensor->is_variable ? tensor : nullptr;
}
inline TfLiteTensor* GetOutput(TfLiteContext* context, const TfLiteNode* node, int index) {
  return TensorAt(context, node->outputs, index);
}
inline TfLiteStatus GetOutputSafe(const TfLiteContext* context, const TfLiteNode* node, int index,
                                  TfLiteTensor** tensor) {
  return TensorAtSafe(context, node->outputs, index, "output", tensor);
}
inline TfLiteTensor* GetTemporary(TfLiteContext* context, const TfLiteNode* node, int index) {
  return TensorAt(context, node->temporaries, index);
}
inline TfLiteStatus GetTemporarySafe(const TfLiteContext* context, const TfLiteNode* node, int index,
                                     TfLiteTensor** tensor) {
  return TensorAtSafe(context, node->temporaries, index, "temporary", tensor);
}
inline const TfLiteTensor* GetIntermediates(TfLiteContext* context, const TfLiteNode* node, int index) {
  return TensorAt(context, node->intermediates, index);
}
inline TfLiteStatus GetIntermediatesSafe(const TfLiteContext* context, const TfLiteNode* node, int index,
                                         TfLiteTensor** tensor) {
  return TensorAtSafe(context, node->intermediates, index, "intermediate", tensor);
}

inline int NumInputs(const TfLiteNode* node) { return node->inputs == nullptr ? 0 : node->inputs->size; }
inline int NumOutputs(const TfLiteNode* node) { return node->outputs == nullptr ? 0 : node->outputs->size; }
inline int NumIntermediates(const TfLiteNode* node) {
  return node->intermediates == nullptr ? 0 : node->intermediates->size;
}
inline int NumDimensions(const TfLiteTensor* tensor) { return tensor->dims->size; }
inline int SizeOfDimension(const TfLiteTensor* tensor, int axis) { return tensor->dims->data[axis]; }
inline int64_t NumElements(const int* sizes, int rank) {
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) count *= sizes[i];
  return count;
}
inline int64_t NumElements(const TfLiteIntArray* sizes) { return NumElements(sizes->data, sizes->size); }
inline int64_t NumElements(const TfLiteTensor* tensor) { return NumElements(tensor->dims); }
inline bool HaveSameShapes(const TfLiteTensor* a, const TfLiteTensor* b) {
  return TfLiteIntArrayEqual(a->dims, b->dims) != 0;
}
inline bool HasUnspecifiedDimension(const TfLiteTensor* tensor) {
  const TfLiteIntArray* sizes = tensor->dims_signature;
  return sizes != nullptr && std::find(sizes->data, sizes->data + sizes->size, -1) != sizes->data + sizes->size;
}

inline bool IsConstantTensor(const TfLiteTensor* tensor) { return tensor->allocation_type == kTfLiteMmapRo; }
inline bool IsConstantOrPersistentTensor(const TfLiteTensor* tensor) {
  return IsConstantTensor(tensor) || tensor->allocation_type == kTfLitePersistentRo;
}
inline bool IsDynamicTensor(const TfLiteTensor* tensor) { return tensor->allocation_type == kTfLiteDynamic; }
inline void SetTensorToDynamic(TfLiteTensor* tensor) {
  if (IsDynamicTensor(tensor)) return;
  TfLiteTensorDataFree(tensor);
  tensor->allocation_type = kTfLiteDynamic;
}
inline void SetTensorToPersistentRo(TfLiteTensor* tensor) {
  if (tensor->allocation_type == kTfLitePersistentRo) return;
  TfLiteTensorDataFree(tensor);
  tensor->allocation_type = kTfLitePersistentRo;
}
inline bool IsHybridOp(const TfLiteTensor* input, const TfLiteTensor* weight) {
  return input->type == kTfLiteFloat32 && (weight->type == kTfLiteUInt8 || weight->type == kTfLiteInt8);
}

// The size of an element in bits; 0 if elements have none of their own, as strings.
inline int TfLiteTypeGetSizeBits(TfLiteType type) {
  static const int bits[] = {0, 32, 32, 8, 64, 0, 8 * sizeof(bool), 16, 64, 8, 16, 64, 128, 64, 0, 0, 32, 16, 4, 16,
                             2, 4,  8,  8};
  const auto index = static_cast<size_t>(type);
  return index < sizeof(bits) / sizeof(bits[0]) ? bits[index] : 0;
}
inline int TfLiteTypeGetSize(TfLiteType type) {
  const int bits = TfLiteTypeGetSizeBits(type);
  return bits % 8 == 0 ? bits / 8 : 0;
}

inline bool IsMobilePlatform() {
#if defined(__ANDROID__)
  return true;
#else
  return false;
#endif
}

// The bounds that an activation puts on numbers.
template <typename T>
void CalculateActivationRange(TfLiteFusedActivation activation, T* min, T* max) {
  *min = std::numeric_limits<T>::lowest();
  *max = std::numeric_limits<T>::max();
  if (activation == kTfLiteActRelu || activation == kTfLiteActRelu6) *min = 0;
  if (activation == kTfLiteActRelu6) *max = 6;
  if (activation == kTfLiteActReluN1To1) {
    *min = static_cast<T>(-1);
    *max = 1;
  }
}

// The same on the integers of a quantized output.
inline TfLiteStatus CalculateActivationRangeQuantized(TfLiteContext* context, TfLiteFusedActivation activation,
                                                      TfLiteTensor* output, int32_t* min, int32_t* max) {
  const TfLiteType type = output->type;
  TF_LITE_ENSURE(context, type == kTfLiteUInt8 || type == kTfLiteInt8 || type == kTfLiteInt16);
  const int32_t half = type == kTfLiteInt16 ? 1 << 15 : 1 << 7;
  *min = type == kTfLiteUInt8 ? 0 : -half;
  *max = *min + 2 * half - 1;
  float least, most;
  CalculateActivationRange(activation, &least, &most);
  for (const bool is_min : {true, false}) {
    const float bound = is_min ? least : most;
    if (std::abs(bound) == std::numeric_limits<float>::max()) continue;
    const float steps = TfLiteRound(bound / output->params.scale);
    TF_LITE_ENSURE(context, steps >= -2147483648.0f && steps < 2147483648.0f);
    const int64_t integer = static_cast<int64_t>(output->params.zero_point) + static_cast<int64_t>(steps);
    int32_t* limit = is_min ? min : max;
    *limit = static_cast<int32_t>(is_min ? std::max<int64_t>(*limit, integer) : std::min<int64_t>(*limit, integer));
  }
  return kTfLiteOk;
}

// What an accumulator of products of inputs and filters is multiplied by to become an output.
inline TfLiteStatus GetQuantizedConvolutionMultipler(TfLiteContext* context, const TfLiteTensor* input,
                                                     const TfLiteTensor* filter, TfLiteTensor* output,
                                                     double* multiplier) {
  const auto product = static_cast<double>(input->params.scale * filter->params.scale);
  TF_LITE_ENSURE(context, product >= 0);
  *multiplier = product / static_cast<double>(output->params.scale);
  return kTfLiteOk;
}
inline TfLiteStatus GetQuantizedConvolutionMultipler(TfLiteContext* context, const TfLiteTensor* input,
                                                     const TfLiteTensor* filter, const TfLiteTensor* bias,
                                                     TfLiteTensor* output, double* multiplier) {
  if (bias != nullptr) {
    const double product = static_cast<double>(input->params.scale) * static_cast<double>(filter->params.scale);
    const double difference = std::abs(product - static_cast<double>(bias->params.scale));
    TF_LITE_ENSURE(context, difference / static_cast<double>(output->params.scale) <= 0.02);
  }
  return GetQuantizedConvolutionMultipler(context, input, filter, output, multiplier);
}

// The same for each channel of a quantized convolution, and the bounds of its activation. `multiplier` and `shift` are for
// uint8, which has one scale.
inline TfLiteStatus PopulateConvolutionQuantizationParams(
    TfLiteContext* context, const TfLiteTensor* input, const TfLiteTensor* filter, const TfLiteTensor* bias,
    TfLiteTensor* output, const TfLiteFusedActivation& activation, int32_t* multiplier, int* shift,
    int32_t* output_activation_min, int32_t* output_activation_max, int32_t* per_channel_multiplier,
    int32_t* per_channel_shift, int num_channels) {
  TF_LITE_ENSURE_EQ(context, input->quantization.type, kTfLiteAffineQuantization);
  TF_LITE_ENSURE_EQ(context, filter->quantization.type, kTfLiteAffineQuantization);
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(filter->quantization.params);
  TF_LITE_ENSURE(context, affine != nullptr && affine->scale != nullptr);
  const bool is_per_channel = affine->scale->size > 1;
  if (is_per_channel) {
    TF_LITE_ENSURE(context, input->type == kTfLiteInt8 || input->type == kTfLiteInt16);
    TF_LITE_ENSURE(context, filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4);
    TF_LITE_ENSURE_EQ(context, affine->scale->size, num_channels);
    TF_LITE_ENSURE_EQ(context, num_channels, SizeOfDimension(filter, affine->quantized_dimension));
  }
  for (int i = 0; i < num_channels; ++i) {
    const double scale = static_cast<double>(affine->scale->data[is_per_channel ? i : 0]);
    const double real = static_cast<double>(input->params.scale) * scale / static_cast<double>(output->params.scale);
    QuantizeMultiplier(real, &per_channel_multiplier[i], &per_channel_shift[i]);
  }
  if (input->type == kTfLiteUInt8) {
    double real;
    TF_LITE_ENSURE_STATUS(GetQuantizedConvolutionMultipler(context, input, filter, bias, output, &real));
    QuantizeMultiplier(real, multiplier, shift);
    *shift = -*shift;
  }
  if (input->type != kTfLiteInt8 && input->type != kTfLiteUInt8 && input->type != kTfLiteInt16) return kTfLiteOk;
  return CalculateActivationRangeQuantized(context, activation, output, output_activation_min, output_activation_max);
}
inline TfLiteStatus PopulateConvolutionQuantizationParams(
    TfLiteContext* context, const TfLiteTensor* input, const TfLiteTensor* filter, const TfLiteTensor* bias,
    TfLiteTensor* output, const TfLiteFusedActivation& activation, int32_t* multiplier, int* shift,
    int32_t* output_activation_min, int32_t* output_activation_max, int32_t* per_channel_multiplier,
    int32_t* per_channel_shift) {
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(filter->quantization.params);
  return PopulateConvolutionQuantizationParams(context, input, filter, bias, output, activation, multiplier, shift,
                                               output_activation_min, output_activation_max, per_channel_multiplier,
                                               per_channel_shift, affine->scale->size);
}

inline std::string GetShapeDebugString(const TfLiteIntArray* shape) {
  std::string text;
  for (int i = 0; i < shape->size; ++i) text += (i == 0 ? "" : ",") + std::to_string(shape->data[i]);
  return "[" + text + "]";
}

// The shape to which shapes are broadcast.
inline TfLiteStatus BroadcastShape(TfLiteContext* context, std::initializer_list<const TfLiteTensor*> tensors,
                                   TfLiteIntArray** shape) {
  int rank = 0;
  for (const TfLiteTensor* each : tensors) rank = std::max(rank, NumDimensions(each));
  TfLiteIntArray* made = TfLiteIntArrayCreate(rank);
  TF_LITE_ENSURE(context, made != nullptr);
  for (int i = 1; i <= rank; ++i) {
    int size = 1;
    for (const TfLiteTensor* each : tensors) {
      const int own = i > NumDimensions(each) ? 1 : SizeOfDimension(each, NumDimensions(each) - i);
      if (own == 1 || own == size) continue;
      if (size != 1) {
        TfLiteIntArrayFree(made);
        std::string shapes;
        for (const TfLiteTensor* one : tensors) shapes += " " + GetShapeDebugString(one->dims);
        TF_LITE_KERNEL_LOG(context, "Given shapes,%s, are not broadcastable.", shapes.c_str());
        return kTfLiteError;
      }
      size = own;
    }
    made->data[rank - i] = size;
  }
  *shape = made;
  return kTfLiteOk;
}
inline TfLiteStatus CalculateShapeForBroadcast(TfLiteContext* context, const TfLiteTensor* input1,
                                               const TfLiteTensor* input2, TfLiteIntArray** output_shape) {
  return BroadcastShape(context, {input1, input2}, output_shape);
}
inline TfLiteStatus CalculateShapeForBroadcast(TfLiteContext* context, const TfLiteTensor* input1,
                                               const TfLiteTensor* input2, const TfLiteTensor* input3,
                                               TfLiteIntArray** output_shape) {
  return BroadcastShape(context, {input1, input2, input3}, output_shape);
}

// The shape that the numbers of an input are.
inline TfLiteStatus GetOutputShapeFromInput(TfLiteContext* context, const TfLiteTensor* input,
                                            TfLiteIntArray** output_shape) {
  TF_LITE_ENSURE_EQ(context, NumDimensions(input), 1);
  *output_shape = TfLiteIntArrayCreate(SizeOfDimension(input, 0));
  TF_LITE_ENSURE(context, *output_shape != nullptr);
  for (int i = 0; i < SizeOfDimension(input, 0); ++i) (*output_shape)->data[i] = input->data.i32[i];
  return kTfLiteOk;
}

// The product of sizes, none of them negative, that can be counted.
inline TfLiteStatus CheckedShapeProduct(TfLiteContext* context, const int* sizes, int count, const char* message,
                                        size_t& product) {
  product = 1;
  for (int i = 0; i < count; ++i) {
    TF_LITE_ENSURE_MSG(context, sizes[i] >= 0, "a size is negative");
    TF_LITE_ENSURE_MSG(context, !__builtin_mul_overflow(product, static_cast<size_t>(sizes[i]), &product), "%s",
                       message);
  }
  return kTfLiteOk;
}
inline TfLiteStatus CheckedShapeProduct(TfLiteContext* context, std::initializer_list<int> sizes, const char* message,
                                        size_t& product) {
  return CheckedShapeProduct(context, sizes.begin(), static_cast<int>(sizes.size()), message, product);
}
inline TfLiteStatus CheckedShapeProductToInt(TfLiteContext* context, std::initializer_list<int> sizes,
                                             const char* message, int& product) {
  size_t wide;
  TF_LITE_ENSURE_STATUS(CheckedShapeProduct(context, sizes, message, wide));
  TF_LITE_ENSURE_MSG(context, wide <= static_cast<size_t>(std::numeric_limits<int>::max()), "%s", message);
  product = static_cast<int>(wide);
  return kTfLiteOk;
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_KERNEL_UTIL_H_
