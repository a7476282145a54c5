// tf.image.extract_patches for TensorFlow Lite, as a custom op.
#include <algorithm>
#include <cstring>
#include <string>

#include "flatbuffers/flexbuffers.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/kernels/internal/tensor.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"
#include "tensorflow/lite/kernels/internal/types.h"
#include "tensorflow/lite/kernels/kernel_util.h"
#include "tensorflow/lite/kernels/padding.h"

namespace tflite {
namespace ops {
namespace custom {
namespace extract_image_patches {

constexpr int kInputTensor = 0;
constexpr int kOutputTensor = 0;

struct OpData {
  int ksize_height, ksize_width;
  int stride_height, stride_width;
  int rate_height, rate_width;
  TfLitePadding padding;
  TfLitePaddingValues padding_values;
};

void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  auto* data = new OpData;
  const uint8_t* buffer_t = reinterpret_cast<const uint8_t*>(buffer);
  const flexbuffers::Map& m = flexbuffers::GetRoot(buffer_t, length).AsMap();
  const auto ksizes = m["ksizes"].AsTypedVector();
  const auto strides = m["strides"].AsTypedVector();
  const auto rates = m["rates"].AsTypedVector();
  TFLITE_DCHECK_EQ(ksizes.size(), 4);
  data->ksize_height = ksizes[1].AsInt32();
  data->ksize_width = ksizes[2].AsInt32();
  data->stride_height = strides[1].AsInt32();
  data->stride_width = strides[2].AsInt32();
  data->rate_height = rates[1].AsInt32();
  data->rate_width = rates[2].AsInt32();
  const std::string padding = m["padding"].AsString().str();
  data->padding = padding == "SAME" ? kTfLitePaddingSame : padding == "VALID" ? kTfLitePaddingValid : kTfLitePaddingUnknown;
  return data;
}

void Free(TfLiteContext* context, void* buffer) { delete reinterpret_cast<OpData*>(buffer); }

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  auto* data = reinterpret_cast<OpData*>(node->user_data);
  TF_LITE_ENSURE_EQ(context, NumInputs(node), 1);
  TF_LITE_ENSURE_EQ(context, NumOutputs(node), 1);
  const TfLiteTensor* input;
  TF_LITE_ENSURE_OK(context, GetInputSafe(context, node, kInputTensor, &input));
  TfLiteTensor* output;
  TF_LITE_ENSURE_OK(context, GetOutputSafe(context, node, kOutputTensor, &output));
  TF_LITE_ENSURE_EQ(context, NumDimensions(input), 4);
  TF_LITE_ENSURE_TYPES_EQ(context, output->type, input->type);
  TF_LITE_ENSURE_MSG(context, data->padding != kTfLitePaddingUnknown, "padding must be SAME or VALID");
  TF_LITE_ENSURE(context, data->ksize_height > 0 && data->ksize_width > 0);

  int out_height, out_width;
  data->padding_values = ComputePaddingHeightWidth(
      data->stride_height, data->stride_width, data->rate_height, data->rate_width, SizeOfDimension(input, 1),
      SizeOfDimension(input, 2), data->ksize_height, data->ksize_width, data->padding, &out_height, &out_width);
  TfLiteIntArray* output_size = TfLiteIntArrayCreate(4);
  output_size->data[0] = SizeOfDimension(input, 0);
  output_size->data[1] = out_height;
  output_size->data[2] = out_width;
  output_size->data[3] = data->ksize_height * data->ksize_width * SizeOfDimension(input, 3);
  return context->ResizeTensor(context, output, output_size);
}

template <typename T>
void ExtractPatches(const OpData& data, const RuntimeShape& input_shape, const T* input_data,
                    const RuntimeShape& output_shape, T* output_data) {
  const int batches = MatchingDim(input_shape, 0, output_shape, 0);
  const int depth = input_shape.Dims(3);
  for (int b = 0; b < batches; ++b) {
    for (int out_y = 0; out_y < output_shape.Dims(1); ++out_y) {
      for (int out_x = 0; out_x < output_shape.Dims(2); ++out_x) {
        for (int y = 0; y < data.ksize_height; ++y) {
          for (int x = 0; x < data.ksize_width; ++x) {
            const int in_y = out_y * data.stride_height - data.padding_values.height + y * data.rate_height;
            const int in_x = out_x * data.stride_width - data.padding_values.width + x * data.rate_width;
            T* to = output_data + Offset(output_shape, b, out_y, out_x, (y * data.ksize_width + x) * depth);
            if (in_y < 0 || in_y >= input_shape.Dims(1) || in_x < 0 || in_x >= input_shape.Dims(2)) {
              std::fill_n(to, depth, T(0));
            } else {
              std::memcpy(to, input_data + Offset(input_shape, b, in_y, in_x, 0), depth * sizeof(T));
            }
          }
        }
      }
    }
  }
}

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const auto* data = reinterpret_cast<OpData*>(node->user_data);
  const TfLiteTensor* input = GetInput(context, node, kInputTensor);
  TfLiteTensor* output = GetOutput(context, node, kOutputTensor);
#define TF_LITE_EXTRACT_PATCHES(type)                                                                       \
  ExtractPatches<type>(*data, GetTensorShape(input), GetTensorData<type>(input), GetTensorShape(output), \
                       GetTensorData<type>(output))
  switch (input->type) {
    case kTfLiteFloat32:
      TF_LITE_EXTRACT_PATCHES(float);
      break;
    case kTfLiteUInt8:
      TF_LITE_EXTRACT_PATCHES(uint8_t);
      break;
    case kTfLiteInt32:
      TF_LITE_EXTRACT_PATCHES(int32_t);
      break;
    default:
      TF_LITE_KERNEL_LOG(context, "Type '%s' is not supported by ExtractImagePatches.", TfLiteTypeGetName(input->type));
      return kTfLiteError;
  }
#undef TF_LITE_EXTRACT_PATCHES
  return kTfLiteOk;
}

}  // namespace extract_image_patches

TfLiteRegistration* Register_EXTRACT_IMAGE_PATCHES() {
  static TfLiteRegistration r = {extract_image_patches::Init, extract_image_patches::Free,
                                 extract_image_patches::Prepare, extract_image_patches::Eval};
  return &r;
}

}  // namespace custom
}  // namespace ops
}  // namespace tflite
