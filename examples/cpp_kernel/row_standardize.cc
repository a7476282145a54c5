// Each row minus its mean, divided by its standard deviation: a custom op for TensorFlow Lite.
#include <cmath>

#include "flatbuffers/flexbuffers.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/kernels/internal/tensor.h"
#include "tensorflow/lite/kernels/kernel_util.h"

namespace row_standardize {

struct Options {
  float epsilon;
};

void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  const auto* data = reinterpret_cast<const uint8_t*>(buffer);
  return new Options{flexbuffers::GetRoot(data, length).AsMap()["epsilon"].AsFloat()};
}

void Free(TfLiteContext* context, void* data) { delete static_cast<Options*>(data); }

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  TF_LITE_ENSURE_EQ(context, tflite::NumInputs(node), 1);
  TF_LITE_ENSURE_EQ(context, tflite::NumOutputs(node), 1);
  const TfLiteTensor* x = tflite::GetInput(context, node, 0);
  TF_LITE_ENSURE_TYPES_EQ(context, x->type, kTfLiteFloat32);
  TF_LITE_ENSURE(context, tflite::NumDimensions(x) >= 1);
  return context->ResizeTensor(context, tflite::GetOutput(context, node, 0), TfLiteIntArrayCopy(x->dims));
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* x = tflite::GetInput(context, node, 0);
  const float epsilon = static_cast<Options*>(node->user_data)->epsilon;
  const int size = tflite::SizeOfDimension(x, tflite::NumDimensions(x) - 1);
  const int64_t rows = size == 0 ? 0 : tflite::NumElements(x) / size;
  const float* from = tflite::GetTensorData<float>(x);
  float* to = tflite::GetTensorData<float>(tflite::GetOutput(context, node, 0));
  for (int64_t row = 0; row < rows; ++row, from += size, to += size) {
    double sum = 0, squares = 0;
    for (int i = 0; i < size; ++i) sum += from[i];
    const double mean = sum / size;
    for (int i = 0; i < size; ++i) squares += (from[i] - mean) * (from[i] - mean);
    const double deviation = std::sqrt(squares / size) + epsilon;
    for (int i = 0; i < size; ++i) to[i] = static_cast<float>((from[i] - mean) / deviation);
  }
  return kTfLiteOk;
}

}  // namespace row_standardize

TfLiteRegistration* Register_RowStandardize() {
  static TfLiteRegistration registration = {row_standardize::Init, row_standardize::Free, row_standardize::Prepare,
                                            row_standardize::Invoke};
  return &registration;
}
