// A kernel of LiteRT's C interface alone, with a temporary tensor: its output is twice the input.
#include <cstdlib>
#include <cstring>

#include "litefuse/registry.h"
#include "litefuse/tflite.h"

namespace {

TfLiteIntArray* ArrayOf(int size, const int* values) {
  auto* made = static_cast<TfLiteIntArray*>(std::malloc(sizeof(int) * (static_cast<size_t>(size) + 1)));
  made->size = size;
  std::memcpy(made->data, values, sizeof(int) * static_cast<size_t>(size));
  return made;
}

void* Init(TfLiteContext* context, const char*, size_t) {
  auto* first = new int;
  context->AddTensors(context, 1, first);
  return first;
}

void Free(TfLiteContext*, void* data) { delete static_cast<int*>(data); }

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  const int temporary = *static_cast<int*>(node->user_data);
  std::free(node->temporaries);
  node->temporaries = ArrayOf(1, &temporary);
  const TfLiteIntArray* shape = context->tensors[node->inputs->data[0]].dims;
  TfLiteTensor* scratch = &context->tensors[temporary];
  scratch->type = kTfLiteFloat32;
  scratch->allocation_type = kTfLiteArenaRw;
  if (context->ResizeTensor(context, scratch, ArrayOf(shape->size, shape->data)) != kTfLiteOk) return kTfLiteError;
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  return context->ResizeTensor(context, output, ArrayOf(shape->size, shape->data));
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
  const TfLiteTensor& scratch = context->tensors[node->temporaries->data[0]];
  std::memcpy(scratch.data.raw, input.data.raw, input.bytes);
  auto* from = reinterpret_cast<float*>(scratch.data.raw);
  auto* to = reinterpret_cast<float*>(context->tensors[node->outputs->data[0]].data.raw);
  for (size_t i = 0; i < input.bytes / sizeof(float); ++i) to[i] = from[i] + from[i];
  return kTfLiteOk;
}

}  // namespace

extern "C" const TfLiteRegistration* litefuse_register_Doubled(void) {
  static const TfLiteRegistration registration = [] {
    TfLiteRegistration made{};
    made.init = Init;
    made.free = Free;
    made.prepare = Prepare;
    made.invoke = Invoke;
    made.custom_name = "Doubled";
    return made;
  }();
  return &registration;
}
