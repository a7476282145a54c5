// Scores times a weight for each class, as integers, and the name of the best class of each row with how often that class
// has won so far.
#include "flatbuffers/flexbuffers.h"
#include "tflite/core/c/builtin_op_data.h"
#include "tflite/core/c/common.h"
#include "tflite/kernels/internal/common.h"
#include "tflite/kernels/internal/compatibility.h"
#include "tflite/kernels/internal/quantization_util.h"
#include "tflite/kernels/internal/tensor_ctypes.h"
#include "tflite/kernels/kernel_util.h"
#include "tflite/string_util.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace my_app {
namespace {

enum Inputs { kScores, kWeights, kLabels };
enum Outputs { kScaled, kNames };
enum Temporaries { kAccumulators, kWins, kOrder, kTemporaries };

struct State {
  int first_temporary = 0;
  bool wins_are_set = false;
  TfLiteFusedActivation activation = kTfLiteActNone;
  std::vector<int32_t> multipliers;
  std::vector<int> shifts;
  int32_t least = 0, most = 0;
};

void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  auto state = std::make_unique<State>();
  context->AddTensors(context, kTemporaries, &state->first_temporary);
  const auto options = flexbuffers::GetRoot(reinterpret_cast<const uint8_t*>(buffer), length).AsMap();
  if (!options["relu"].IsNull() && options["relu"].AsBool()) state->activation = kTfLiteActRelu;
  return state.release();
}

void Free(TfLiteContext*, void* buffer) { delete static_cast<State*>(buffer); }

TfLiteStatus SetUp(TfLiteContext* context, TfLiteNode* node, int index, TfLiteType type,
                   TfLiteAllocationType allocation, TfLiteIntArray* shape) {
  auto* state = static_cast<State*>(node->user_data);
  node->temporaries->data[index] = state->first_temporary + index;
  TfLiteTensor* tensor;
  TF_LITE_ENSURE_OK(context, tflite::GetTemporarySafe(context, node, index, &tensor));
  tensor->type = type;
  tensor->allocation_type = allocation;
  if (shape == nullptr) return kTfLiteOk;
  return context->ResizeTensor(context, tensor, shape);
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  auto* state = static_cast<State*>(node->user_data);
  TF_LITE_ENSURE_EQ(context, tflite::NumInputs(node), 3);
  TF_LITE_ENSURE_EQ(context, tflite::NumOutputs(node), 2);
  const TfLiteTensor *scores, *weights, *labels;
  TF_LITE_ENSURE_OK(context, tflite::GetInputSafe(context, node, kScores, &scores));
  TF_LITE_ENSURE_OK(context, tflite::GetInputSafe(context, node, kWeights, &weights));
  TF_LITE_ENSURE_OK(context, tflite::GetInputSafe(context, node, kLabels, &labels));
  TfLiteTensor *scaled, *names;
  TF_LITE_ENSURE_OK(context, tflite::GetOutputSafe(context, node, kScaled, &scaled));
  TF_LITE_ENSURE_OK(context, tflite::GetOutputSafe(context, node, kNames, &names));
  TF_LITE_ENSURE_TYPES_EQ(context, scores->type, kTfLiteInt8);
  TF_LITE_ENSURE_TYPES_EQ(context, labels->type, kTfLiteString);
  TF_LITE_ENSURE_EQ(context, tflite::NumDimensions(scores), 2);
  const int classes = tflite::SizeOfDimension(scores, 1);
  TF_LITE_ENSURE_EQ(context, tflite::NumElements(weights), classes);
  TF_LITE_ENSURE_EQ(context, tflite::NumElements(labels), classes);

  TF_LITE_ENSURE_EQ(context, weights->quantization.type, kTfLiteAffineQuantization);
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(weights->quantization.params);
  TF_LITE_ENSURE(context, affine->scale->size == classes);
  state->multipliers.resize(classes);
  state->shifts.resize(classes);
  for (int i = 0; i < classes; ++i) {
    const double real = static_cast<double>(scores->params.scale) * affine->scale->data[i] / scaled->params.scale;
    tflite::QuantizeMultiplier(real, &state->multipliers[i], &state->shifts[i]);
  }
  TF_LITE_ENSURE_STATUS(tflite::CalculateActivationRangeQuantized(context, state->activation, scaled, &state->least,
                                                                  &state->most));

  TfLiteIntArrayFree(node->temporaries);
  node->temporaries = TfLiteIntArrayCreate(kTemporaries);
  TfLiteIntArray* per_class = TfLiteIntArrayCreate(1);
  per_class->data[0] = classes;
  TF_LITE_ENSURE_OK(context, SetUp(context, node, kAccumulators, kTfLiteInt32, kTfLiteArenaRw,
                                   TfLiteIntArrayCopy(scores->dims)));
  TF_LITE_ENSURE_OK(context, SetUp(context, node, kWins, kTfLiteInt32, kTfLiteArenaRwPersistent, per_class));
  TF_LITE_ENSURE_OK(context, SetUp(context, node, kOrder, kTfLiteInt32, kTfLiteDynamic, nullptr));
  state->wins_are_set = false;

  tflite::SetTensorToDynamic(names);
  return context->ResizeTensor(context, scaled, TfLiteIntArrayCopy(scores->dims));
}

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  auto* state = static_cast<State*>(node->user_data);
  const TfLiteTensor* scores = tflite::GetInput(context, node, kScores);
  const TfLiteTensor* weights = tflite::GetInput(context, node, kWeights);
  const TfLiteTensor* labels = tflite::GetInput(context, node, kLabels);
  TfLiteTensor* scaled = tflite::GetOutput(context, node, kScaled);
  TfLiteTensor* names = tflite::GetOutput(context, node, kNames);
  TfLiteTensor* accumulators = tflite::GetTemporary(context, node, kAccumulators);
  TfLiteTensor* wins = tflite::GetTemporary(context, node, kWins);
  TfLiteTensor* order = tflite::GetTemporary(context, node, kOrder);

  const tflite::RuntimeShape shape = tflite::GetTensorShape(scores);
  const int rows = shape.Dims(0), classes = shape.Dims(1);
  TfLiteIntArray* size = TfLiteIntArrayCreate(1);
  size->data[0] = classes;
  TF_LITE_ENSURE_OK(context, context->ResizeTensor(context, order, size));
  if (!state->wins_are_set) std::fill_n(tflite::GetTensorData<int32_t>(wins), classes, 0);
  state->wins_are_set = true;

  const int count = tflite::MatchingFlatSize(shape, tflite::GetTensorShape(scaled));
  auto* sums = tflite::GetTensorData<int32_t>(accumulators);
  const auto* from = tflite::GetTensorData<int8_t>(scores);
  const auto* by = tflite::GetTensorData<int8_t>(weights);
  for (int i = 0; i < count; ++i) sums[i] = (from[i] - scores->params.zero_point) * by[i % classes];
  auto* to = tflite::GetTensorData<int8_t>(scaled);
  for (int i = 0; i < count; ++i) {
    int32_t value = tflite::MultiplyByQuantizedMultiplier(sums[i], state->multipliers[i % classes],
                                                          state->shifts[i % classes]);
    value = std::min(std::max(value + scaled->params.zero_point, state->least), state->most);
    to[i] = static_cast<int8_t>(value);
  }

  tflite::DynamicBuffer buffer;
  auto* ranks = tflite::GetTensorData<int32_t>(order);
  for (int row = 0; row < rows; ++row) {
    std::iota(ranks, ranks + classes, 0);
    std::stable_sort(ranks, ranks + classes,
                     [&](int a, int b) { return to[row * classes + a] > to[row * classes + b]; });
    const int times = ++tflite::GetTensorData<int32_t>(wins)[ranks[0]];
    const tflite::StringRef label = tflite::GetString(labels, ranks[0]);
    const std::string text = std::to_string(times);
    buffer.AddJoinedString({label, {text.data(), text.size()}}, '#');
  }
  TfLiteIntArray* names_size = TfLiteIntArrayCreate(1);
  names_size->data[0] = rows;
  buffer.WriteToTensor(names, names_size);
  return kTfLiteOk;
}

}  // namespace

TfLiteRegistration* RegisterRankLabels() {
  static TfLiteRegistration registration = {Init, Free, Prepare, Eval};
  return &registration;
}

}  // namespace my_app
