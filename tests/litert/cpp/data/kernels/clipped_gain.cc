// Two kernels of lambdas, added to an app's resolver.
#include "clipped_gain.h"

#include <algorithm>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/kernels/kernel_util.h"

namespace audio {

using tflite::GetInput;
using tflite::GetOutput;

void AddKernels(tflite::MutableOpResolver* resolver) {
  static TfLiteRegistration gain;
  gain.builtin_code = kTfLiteCustom;
  gain.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    TF_LITE_ENSURE_EQ(context, tflite::NumInputs(node), 2);
    TF_LITE_ENSURE_EQ(context, tflite::NumOutputs(node), 1);
    const TfLiteTensor* samples = GetInput(context, node, 0);
    TF_LITE_ENSURE_TYPES_EQ(context, samples->type, kTfLiteFloat32);
    TF_LITE_ENSURE_EQ(context, tflite::NumElements(GetInput(context, node, 1)), 1);
    return context->ResizeTensor(context, GetOutput(context, node, 0), TfLiteIntArrayCopy(samples->dims));
  };
  gain.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor* samples = GetInput(context, node, 0);
    const float factor = GetInput(context, node, 1)->data.f[0];
    float* to = GetOutput(context, node, 0)->data.f;
    for (int64_t i = 0; i < tflite::NumElements(samples); ++i) {
      to[i] = std::min(1.0f, std::max(-1.0f, samples->data.f[i] * factor));
    }
    return kTfLiteOk;
  };
  resolver->AddCustom("ClippedGain", &gain);

  TfLiteRegistration negate{};  // on the stack: the resolver copies it
  negate.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor* from = GetInput(context, node, 0);
    TfLiteTensor* to = GetOutput(context, node, 0);
    std::transform(from->data.f, from->data.f + tflite::NumElements(from), to->data.f, [](float x) { return -x; });
    return kTfLiteOk;
  };
  resolver->AddCustom(kNegate, &negate, 1);
}

}  // namespace audio
