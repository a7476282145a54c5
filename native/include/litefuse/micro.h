// Kernels in LiteRT for Microcontrollers: include it in a file of the application, which has tflite-micro's headers, and
// compile litefuse's `src` and the kernels beside.
//
//   LITEFUSE_DEFINE_MICRO_KERNEL(ExtractImagePatches)
//   ...
//   resolver.AddCustom("ExtractImagePatches", litefuse_micro_ExtractImagePatches());
//
// The kernels take memory from the heap, beside the arena. Shapes of outputs are those of the model's file: tflite-micro
// has no dynamic tensors, and none of strings.
#ifndef LITEFUSE_MICRO_H_
#define LITEFUSE_MICRO_H_

#include "litefuse/portable.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/micro/kernels/kernel_util.h"
#include "tensorflow/lite/micro/memory_helpers.h"
#include "tensorflow/lite/micro/micro_common.h"
#include "tensorflow/lite/micro/micro_context.h"
#include "tensorflow/lite/micro/micro_log.h"

namespace litefuse {

namespace internal {

// Of a call of `prepare`, in which tensors have scales, or of `invoke`, in which they have memory.
class MicroHost final : public portable::Host {
 public:
  MicroHost(TfLiteContext* context, TfLiteNode* node, bool in_prepare)
      : context_(context), node_(node), in_prepare_(in_prepare) {}
  MicroHost(const MicroHost&) = delete;
  MicroHost& operator=(const MicroHost&) = delete;
  ~MicroHost() { Release(); }

  int inputs() const override { return node_->inputs->size; }
  int outputs() const override { return node_->outputs->size; }
  bool Input(int index, portable::TensorView* view) override {
    if (node_->inputs->data[index] < 0) return false;
    if (!in_prepare_) return Show(tflite::micro::GetEvalInput(context_, node_, index), view);
    return Show(tflite::GetMicroContext(context_)->AllocateTempInputTensor(node_, index), view);
  }
  bool Output(int index, portable::TensorView* view) override {
    if (node_->outputs->data[index] < 0) return false;
    if (!in_prepare_) return Show(tflite::micro::GetEvalOutput(context_, node_, index), view);
    return Show(tflite::GetMicroContext(context_)->AllocateTempOutputTensor(node_, index), view);
  }
  bool Resize(int output, int rank, const int* dims) override {
    portable::TensorView view;
    if (!Output(output, &view)) return false;
    bool is_same = view.rank == rank;
    for (int axis = 0; is_same && axis < rank; ++axis) is_same = view.dims[axis] == dims[axis];
    if (!is_same) MicroPrintf("litefuse: output %d has another shape in the model's file", output);
    return is_same;
  }
  bool MakeDynamic(int) override { return false; }
  void Report(const char* message) override { MicroPrintf("%s", message); }

 private:
  bool Show(TfLiteTensor* tensor, portable::TensorView* view) {
    Release();
    if (tensor == nullptr) return false;
    temporary_ = tensor;  // what the view points to lives in it
    ShowShape(tensor->dims, static_cast<int>(tensor->type), tensor->bytes, view);
    view->is_constant = tensor->allocation_type == kTfLiteMmapRo;
    view->is_variable = tensor->is_variable;
    view->data = view->is_constant ? tensor->data.data : nullptr;
    if (tensor->quantization.type != kTfLiteAffineQuantization || tensor->quantization.params == nullptr) return true;
    portable::ShowScales(*static_cast<const TfLiteAffineQuantization*>(tensor->quantization.params), view);
    return true;
  }

  bool Show(const TfLiteEvalTensor* tensor, portable::TensorView* view) {
    if (tensor == nullptr) return false;
    size_t size = 0, count = 1;
    if (tflite::TfLiteTypeSizeOf(tensor->type, &size) != kTfLiteOk) return false;
    for (int axis = 0; axis < tensor->dims->size; ++axis) count *= static_cast<size_t>(tensor->dims->data[axis]);
    ShowShape(tensor->dims, static_cast<int>(tensor->type), count * size, view);
    view->data = tensor->data.data;
    return true;
  }

  static void ShowShape(const TfLiteIntArray* dims, int type, size_t bytes, portable::TensorView* view) {
    view->type = type;
    view->rank = dims->size;
    view->dims = dims->data;
    view->bytes = bytes;
  }

  void Release() {
    if (temporary_ != nullptr) tflite::GetMicroContext(context_)->DeallocateTempTfLiteTensor(temporary_);
    temporary_ = nullptr;
  }

  TfLiteContext* context_;
  TfLiteNode* node_;
  bool in_prepare_;
  TfLiteTensor* temporary_ = nullptr;
};

inline void MicroFree(TfLiteContext*, void* data) { portable::Free(data); }

inline TfLiteStatus MicroPrepare(TfLiteContext* context, TfLiteNode* node) {
  MicroHost host(context, node, true);
  return portable::Prepare(node->user_data, host) ? kTfLiteOk : kTfLiteError;
}

inline TfLiteStatus MicroInvoke(TfLiteContext* context, TfLiteNode* node) {
  MicroHost host(context, node, false);
  return portable::Invoke(node->user_data, host) ? kTfLiteOk : kTfLiteError;
}

}  // namespace internal

// Defines litefuse_micro_<name>(), the registration in LiteRT for Microcontrollers of the kernel of the op `name`.
#define LITEFUSE_DEFINE_MICRO_KERNEL(name)                                                         \
  inline const TFLMRegistration* litefuse_micro_##name() {                                         \
    static const TFLMRegistration registration = [] {                                              \
      TFLMRegistration made{};                                                                     \
      made.init = [](TfLiteContext*, const char* buffer, size_t length) -> void* {                 \
        return litefuse::portable::Init(#name, buffer, length);                                    \
      };                                                                                           \
      made.free = litefuse::internal::MicroFree;                                                   \
      made.prepare = litefuse::internal::MicroPrepare;                                             \
      made.invoke = litefuse::internal::MicroInvoke;                                               \
      made.custom_name = #name;                                                                    \
      return made;                                                                                 \
    }();                                                                                           \
    return &registration;                                                                          \
  }                                                                                                \
  static_assert(true, "a semicolon may follow")

}  // namespace litefuse

#endif  // LITEFUSE_MICRO_H_
