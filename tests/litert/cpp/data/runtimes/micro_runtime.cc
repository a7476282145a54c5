// The part of tflite-micro's interface that litefuse/micro.h uses (tensorflow/lite here), over tensors of the tests.
#include "driver.h"
#include "litefuse/micro.h"

#include <cstdarg>
#include <cstdio>

LITEFUSE_DEFINE_MICRO_KERNEL(Doubled);
LITEFUSE_DEFINE_MICRO_KERNEL(Erf);
LITEFUSE_DEFINE_MICRO_KERNEL(Roll);
LITEFUSE_DEFINE_MICRO_KERNEL(ExtractImagePatches);
LITEFUSE_DEFINE_MICRO_KERNEL(Bincount);

namespace {

struct MicroNode : Driven, tflite::MicroContext {
  TfLiteContext context{};
  TfLiteNode node{};
  const TFLMRegistration* registration = nullptr;
  std::string options;
  std::vector<int> input_indices{0}, output_indices{0};
  int temporaries = 0;

  Tensor* At(int index) {
    const auto inputs_count = static_cast<int>(inputs.size());
    return index < inputs_count ? inputs[static_cast<size_t>(index)] : outputs[static_cast<size_t>(index - inputs_count)];
  }
  TfLiteTensor* AllocateTempTfLiteTensor(int index) override {
    const Tensor* from = At(index);
    ++temporaries;
    auto* made = new TfLiteTensor{};
    made->type = static_cast<TfLiteType>(from->type);
    made->dims = reinterpret_cast<TfLiteIntArray*>(const_cast<int*>(from->dims.data()));
    made->bytes = from->memory.size();
    made->allocation_type = from->is_constant ? kTfLiteMmapRo : kTfLiteArenaRw;
    made->data.data = from->is_constant ? const_cast<char*>(from->memory.data()) : nullptr;
    if (from->scale != 0) {
      scale = {1.4e-45f, from->scale};  // the bits of the integer 1
      zero_point = {1, from->zero_point};
      affine = {reinterpret_cast<TfLiteFloatArray*>(scale.data()), reinterpret_cast<TfLiteIntArray*>(zero_point.data()), 0};
      made->quantization = {kTfLiteAffineQuantization, &affine};
    }
    return made;
  }
  void DeallocateTempTfLiteTensor(TfLiteTensor* tensor) override {
    --temporaries;
    delete tensor;
  }
  TfLiteEvalTensor* GetEvalTensor(int index) override {
    Tensor* from = At(index);
    eval.data.data = from->memory.data();
    eval.dims = reinterpret_cast<TfLiteIntArray*>(from->dims.data());
    eval.type = static_cast<TfLiteType>(from->type);
    return &eval;
  }
  TfLiteEvalTensor eval{};
  TfLiteAffineQuantization affine{};
  std::vector<float> scale;
  std::vector<int> zero_point;
};

std::string* errors;

const TFLMRegistration* Registration(const std::string& op) {
  if (op == "Doubled") return litefuse_micro_Doubled();
  if (op == "Erf") return litefuse_micro_Erf();
  if (op == "Roll") return litefuse_micro_Roll();
  if (op == "Bincount") return litefuse_micro_Bincount();
  return litefuse_micro_ExtractImagePatches();
}

bool Call(Driven* driven, TfLiteStatus (*function)(TfLiteContext*, TfLiteNode*)) {
  auto* own = static_cast<MicroNode*>(driven);
  errors = &own->errors;
  own->input_indices.assign(1, static_cast<int>(own->inputs.size()));
  own->output_indices.assign(1, static_cast<int>(own->outputs.size()));
  for (size_t i = 0; i < own->inputs.size() + own->outputs.size(); ++i) {
    const bool is_input = i < own->inputs.size();
    (is_input ? own->input_indices : own->output_indices)
        .push_back(is_input && own->inputs[i] == nullptr ? -1 : static_cast<int>(i));
  }
  own->node.inputs = reinterpret_cast<TfLiteIntArray*>(own->input_indices.data());
  own->node.outputs = reinterpret_cast<TfLiteIntArray*>(own->output_indices.data());
  const bool done = function(&own->context, &own->node) == kTfLiteOk;
  if (own->temporaries != 0) own->errors += "temporary tensors are left";
  return done && own->temporaries == 0;
}

}  // namespace

void MicroPrintf(const char* format, ...) {
  char text[1024];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  *errors += text;
}

Driven* New(const char* op, const char* options, size_t size) {
  auto* made = new MicroNode;
  made->options.assign(options, size);
  made->context.impl_ = static_cast<tflite::MicroContext*>(made);
  made->registration = Registration(op);
  made->node.user_data = made->registration->init(&made->context, made->options.data(), size);
  return made;
}
bool Prepare(Driven* node) { return Call(node, static_cast<MicroNode*>(node)->registration->prepare); }
bool Invoke(Driven* node) { return Call(node, static_cast<MicroNode*>(node)->registration->invoke); }
void Delete(Driven* node) {
  auto* own = static_cast<MicroNode*>(node);
  own->registration->free(&own->context, own->node.user_data);
  delete own;
}
