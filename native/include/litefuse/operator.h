// Kernels as operators of LiteRT's opaque C interface, `TfLiteOperator`, which the runtimes that come without a stable C++
// interface take (`TfLiteInterpreterOptionsAddOperator`). For apps that are linked with such a runtime: it has the
// functions that are called here.
//
//   TfLiteOperator* op = litefuse::NewOperator("ExtractImagePatches");
//   TfLiteInterpreterOptionsAddOperator(options, op);  // TfLiteOperatorDelete(op) after the last interpreter
//
// Operators have no tensors of strings as outputs.
#ifndef LITEFUSE_OPERATOR_H_
#define LITEFUSE_OPERATOR_H_

#include <vector>

#include "litefuse/portable.h"
#include "litefuse/tflite.h"

#ifdef LITEFUSE_USE_TFLITE_HEADERS

#if __has_include("tflite/core/c/operator.h")
#include "tflite/core/c/c_api_opaque.h"
#include "tflite/core/c/operator.h"
#else
#include "tensorflow/lite/core/c/c_api_opaque.h"
#include "tensorflow/lite/core/c/operator.h"
#endif

#else

// Source of the declarations: tflite/core/c/operator.h and c_api_opaque.h of LiteRT.
extern "C" {

typedef struct TfLiteOperator TfLiteOperator;
typedef struct TfLiteOpaqueContext TfLiteOpaqueContext;
typedef struct TfLiteOpaqueNode TfLiteOpaqueNode;
typedef struct TfLiteOpaqueTensor TfLiteOpaqueTensor;

TfLiteOperator* TfLiteOperatorCreate(int builtin_code, const char* custom_name, int version, void* user_data);
TfLiteStatus TfLiteOperatorSetInitWithData(TfLiteOperator* op,
                                           void* (*init)(void* user_data, TfLiteOpaqueContext* context,
                                                         const char* buffer, size_t length));
TfLiteStatus TfLiteOperatorSetFreeWithData(TfLiteOperator* op,
                                           void (*free)(void* user_data, TfLiteOpaqueContext* context, void* data));
TfLiteStatus TfLiteOperatorSetPrepareWithData(TfLiteOperator* op,
                                              TfLiteStatus (*prepare)(void* user_data, TfLiteOpaqueContext* context,
                                                                      TfLiteOpaqueNode* node));
TfLiteStatus TfLiteOperatorSetInvokeWithData(TfLiteOperator* op,
                                             TfLiteStatus (*invoke)(void* user_data, TfLiteOpaqueContext* context,
                                                                    TfLiteOpaqueNode* node));

int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode* node);
int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode* node);
const TfLiteOpaqueTensor* TfLiteOpaqueNodeGetInput(const TfLiteOpaqueContext* context, const TfLiteOpaqueNode* node,
                                                   int index);
TfLiteOpaqueTensor* TfLiteOpaqueNodeGetOutput(TfLiteOpaqueContext* context, const TfLiteOpaqueNode* node, int index);
void* TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode* node);

TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor* tensor);
const char* TfLiteOpaqueTensorName(const TfLiteOpaqueTensor* tensor);
int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor* tensor);
int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor* tensor, int32_t axis);
void* TfLiteOpaqueTensorData(const TfLiteOpaqueTensor* tensor);
size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor* tensor);
TfLiteAllocationType TfLiteOpaqueTensorGetAllocationType(const TfLiteOpaqueTensor* tensor);
int TfLiteOpaqueTensorIsVariable(const TfLiteOpaqueTensor* tensor);
TfLiteQuantization TfLiteOpaqueTensorGetQuantization(const TfLiteOpaqueTensor* tensor);
void TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueTensor* tensor);

TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext* context, TfLiteOpaqueTensor* tensor,
                                             TfLiteIntArray* new_size);
void TfLiteOpaqueContextReportError(TfLiteOpaqueContext* context, const char* format, ...);

TfLiteIntArray* TfLiteIntArrayCreate(int size);

}  // extern "C"

#endif  // LITEFUSE_USE_TFLITE_HEADERS

namespace litefuse {

namespace internal {

class OperatorHost final : public portable::Host {
 public:
  OperatorHost(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) : context_(context), node_(node) {}

  int inputs() const override { return TfLiteOpaqueNodeNumberOfInputs(node_); }
  int outputs() const override { return TfLiteOpaqueNodeNumberOfOutputs(node_); }
  bool Input(int index, portable::TensorView* view) override {
    return Show(TfLiteOpaqueNodeGetInput(context_, node_, index), view);
  }
  bool Output(int index, portable::TensorView* view) override {
    return Show(TfLiteOpaqueNodeGetOutput(context_, node_, index), view);
  }
  bool Resize(int output, int rank, const int* dims) override {
    TfLiteIntArray* shape = TfLiteIntArrayCreate(rank);  // the runtime frees it
    if (shape == nullptr) return false;
    for (int axis = 0; axis < rank; ++axis) (&shape->size)[axis + 1] = dims[axis];
    return TfLiteOpaqueContextResizeTensor(context_, TfLiteOpaqueNodeGetOutput(context_, node_, output), shape) ==
           kTfLiteOk;
  }
  bool MakeDynamic(int output) override {
    TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueNodeGetOutput(context_, node_, output));
    return true;
  }
  void Report(const char* message) override { TfLiteOpaqueContextReportError(context_, "%s", message); }

 private:
  bool Show(const TfLiteOpaqueTensor* tensor, portable::TensorView* view) {
    if (tensor == nullptr) return false;
    dims_.clear();
    for (int axis = 0; axis < TfLiteOpaqueTensorNumDims(tensor); ++axis) {
      dims_.push_back(TfLiteOpaqueTensorDim(tensor, axis));
    }
    view->type = static_cast<int>(TfLiteOpaqueTensorType(tensor));
    view->name = TfLiteOpaqueTensorName(tensor);
    view->rank = static_cast<int>(dims_.size());
    view->dims = dims_.data();
    view->data = TfLiteOpaqueTensorData(tensor);
    view->bytes = TfLiteOpaqueTensorByteSize(tensor);
    const TfLiteAllocationType allocation = TfLiteOpaqueTensorGetAllocationType(tensor);
    view->is_constant = allocation == kTfLiteMmapRo || allocation == kTfLitePersistentRo;
    view->is_variable = TfLiteOpaqueTensorIsVariable(tensor) != 0;
    const TfLiteQuantization quantization = TfLiteOpaqueTensorGetQuantization(tensor);
    if (quantization.type != kTfLiteAffineQuantization || quantization.params == nullptr) return true;
    portable::ShowScales(*static_cast<const TfLiteAffineQuantization*>(quantization.params), view);
    return true;
  }

  TfLiteOpaqueContext* context_;
  TfLiteOpaqueNode* node_;
  std::vector<int> dims_;
};

}  // namespace internal

// Makes an operator of the kernel that this library has for an op, whose name must last as long; null if the runtime has
// no memory for it. Without such a kernel, the operator fails when it is prepared.
inline TfLiteOperator* NewOperator(const char* op) {
  TfLiteOperator* made = TfLiteOperatorCreate(static_cast<decltype(kTfLiteBuiltinCustom)>(kTfLiteBuiltinCustom), op, 1,
                                              const_cast<char*>(op));
  if (made == nullptr) return nullptr;
  TfLiteOperatorSetInitWithData(made, [](void* name, TfLiteOpaqueContext*, const char* buffer, size_t length) {
    return portable::Init(static_cast<const char*>(name), buffer, length);
  });
  TfLiteOperatorSetFreeWithData(made, [](void*, TfLiteOpaqueContext*, void* data) { portable::Free(data); });
  TfLiteOperatorSetPrepareWithData(made, [](void*, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
    internal::OperatorHost host(context, node);
    return portable::Prepare(TfLiteOpaqueNodeGetUserData(node), host) ? kTfLiteOk : kTfLiteError;
  });
  TfLiteOperatorSetInvokeWithData(made, [](void*, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
    internal::OperatorHost host(context, node);
    return portable::Invoke(TfLiteOpaqueNodeGetUserData(node), host) ? kTfLiteOk : kTfLiteError;
  });
  return made;
}

}  // namespace litefuse

#endif  // LITEFUSE_OPERATOR_H_
