// The functions of LiteRT's opaque C interface that litefuse/operator.h calls, over tensors of the tests.
#include "litefuse/operator.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "driver.h"

struct TfLiteOperator {
  std::string name;
  int code;
  void* user_data;
  void* (*init)(void*, TfLiteOpaqueContext*, const char*, size_t);
  void (*free)(void*, TfLiteOpaqueContext*, void*);
  TfLiteStatus (*prepare)(void*, TfLiteOpaqueContext*, TfLiteOpaqueNode*);
  TfLiteStatus (*invoke)(void*, TfLiteOpaqueContext*, TfLiteOpaqueNode*);
};

namespace {

struct OperatorNode : Driven {
  TfLiteOperator* op = nullptr;
  std::string options;
  void* user_data = nullptr;
  TfLiteAffineQuantization affine{};
  std::vector<float> scale;
  std::vector<int> zero_point;
};

OperatorNode* Of(const void* handle) { return static_cast<OperatorNode*>(const_cast<void*>(handle)); }
Tensor* Of(const TfLiteOpaqueTensor* tensor) {
  return reinterpret_cast<Tensor*>(const_cast<TfLiteOpaqueTensor*>(tensor));
}

}  // namespace

extern "C" {

TfLiteOperator* TfLiteOperatorCreate(int code, const char* name, int, void* user_data) {
  return new TfLiteOperator{name, code, user_data, nullptr, nullptr, nullptr, nullptr};
}
#define SETTER(Name, member, Result, ...)                                                                      \
  TfLiteStatus TfLiteOperatorSet##Name##WithData(TfLiteOperator* op, Result (*function)(void*, __VA_ARGS__)) { \
    op->member = function;                                                                                     \
    return kTfLiteOk;                                                                                          \
  }
SETTER(Init, init, void*, TfLiteOpaqueContext*, const char*, size_t)
SETTER(Free, free, void, TfLiteOpaqueContext*, void*)
SETTER(Prepare, prepare, TfLiteStatus, TfLiteOpaqueContext*, TfLiteOpaqueNode*)
SETTER(Invoke, invoke, TfLiteStatus, TfLiteOpaqueContext*, TfLiteOpaqueNode*)

int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode* node) { return static_cast<int>(Of(node)->inputs.size()); }
int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode* node) { return static_cast<int>(Of(node)->outputs.size()); }
const TfLiteOpaqueTensor* TfLiteOpaqueNodeGetInput(const TfLiteOpaqueContext*, const TfLiteOpaqueNode* node, int index) {
  return reinterpret_cast<TfLiteOpaqueTensor*>(Of(node)->inputs[static_cast<size_t>(index)]);
}
TfLiteOpaqueTensor* TfLiteOpaqueNodeGetOutput(TfLiteOpaqueContext*, const TfLiteOpaqueNode* node, int index) {
  return reinterpret_cast<TfLiteOpaqueTensor*>(Of(node)->outputs[static_cast<size_t>(index)]);
}
void* TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode* node) { return Of(node)->user_data; }

TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor* tensor) { return static_cast<TfLiteType>(Of(tensor)->type); }
const char* TfLiteOpaqueTensorName(const TfLiteOpaqueTensor*) { return "tensor"; }
int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor* tensor) { return Of(tensor)->dims[0]; }
int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor* tensor, int32_t axis) {
  return Of(tensor)->dims[static_cast<size_t>(axis) + 1];
}
void* TfLiteOpaqueTensorData(const TfLiteOpaqueTensor* tensor) { return Of(tensor)->memory.data(); }
size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor* tensor) { return Of(tensor)->memory.size(); }
TfLiteAllocationType TfLiteOpaqueTensorGetAllocationType(const TfLiteOpaqueTensor* tensor) {
  return Of(tensor)->is_constant ? kTfLiteMmapRo : Of(tensor)->is_dynamic ? kTfLiteDynamic : kTfLiteArenaRw;
}
int TfLiteOpaqueTensorIsVariable(const TfLiteOpaqueTensor*) { return 0; }

TfLiteQuantization TfLiteOpaqueTensorGetQuantization(const TfLiteOpaqueTensor* tensor) {
  if (Of(tensor)->scale == 0) return {};
  static thread_local struct {
    TfLiteAffineQuantization affine;
    float scale[2];
    int zero_point[2];
  } shown;  // read before the next call, as the interface of the kit says
  const int one = 1;
  std::memcpy(shown.scale, &one, sizeof(one));
  shown.scale[1] = Of(tensor)->scale;
  shown.zero_point[0] = one;
  shown.zero_point[1] = Of(tensor)->zero_point;
  shown.affine = {reinterpret_cast<TfLiteFloatArray*>(shown.scale), reinterpret_cast<TfLiteIntArray*>(shown.zero_point),
                  0};
  TfLiteQuantization made{};
  made.type = kTfLiteAffineQuantization;
  made.params = &shown.affine;
  return made;
}
void TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueTensor* tensor) { Of(tensor)->is_dynamic = true; }

TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext*, TfLiteOpaqueTensor* tensor, TfLiteIntArray* shape) {
  Of(tensor)->Resize(shape->data, shape->size, ItemSize(Of(tensor)->type));
  std::free(shape);
  return kTfLiteOk;
}
void TfLiteOpaqueContextReportError(TfLiteOpaqueContext* context, const char* format, ...) {
  char text[1024];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  Of(context)->errors += text;
}
TfLiteIntArray* TfLiteIntArrayCreate(int size) {
  auto* made = static_cast<TfLiteIntArray*>(std::malloc(sizeof(int) * (static_cast<size_t>(size) + 1)));
  made->size = size;
  return made;
}

}  // extern "C"

namespace {
TfLiteOpaqueContext* Context(Driven* node) { return reinterpret_cast<TfLiteOpaqueContext*>(static_cast<OperatorNode*>(node)); }
TfLiteOpaqueNode* Node(Driven* node) { return reinterpret_cast<TfLiteOpaqueNode*>(static_cast<OperatorNode*>(node)); }
}  // namespace

Driven* New(const char* op, const char* options, size_t size) {
  auto* made = new OperatorNode;
  made->options.assign(options, size);
  made->op = litefuse::NewOperator(op);
  if (made->op->code != kTfLiteBuiltinCustom || made->op->name != op) std::abort();
  made->user_data = made->op->init(made->op->user_data, Context(made), made->options.data(), size);
  return made;
}
bool Prepare(Driven* node) {
  const TfLiteOperator* op = static_cast<OperatorNode*>(node)->op;
  return op->prepare(op->user_data, Context(node), Node(node)) == kTfLiteOk;
}
bool Invoke(Driven* node) {
  const TfLiteOperator* op = static_cast<OperatorNode*>(node)->op;
  return op->invoke(op->user_data, Context(node), Node(node)) == kTfLiteOk;
}
void Delete(Driven* node) {
  auto* own = static_cast<OperatorNode*>(node);
  if (own->user_data != nullptr) own->op->free(own->op->user_data, Context(node), own->user_data);
  delete own->op;
  delete own;
}
