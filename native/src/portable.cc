#include "litefuse/portable.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "litefuse/guarded.h"
#include "litefuse/kernel.h"
#include "litefuse/registry.h"

namespace litefuse {
namespace portable {

namespace {

// An array of the C interface: the size, then the numbers.
TfLiteIntArray* AsArray(std::vector<int>& numbers) { return reinterpret_cast<TfLiteIntArray*>(numbers.data()); }

std::vector<int> NewArray(int size, const int* numbers) {
  std::vector<int> made{size};
  if (size > 0) made.insert(made.end(), numbers, numbers + size);
  return made;
}

// What the structs of a tensor point to.
struct Storage {
  std::vector<int> dims;
  std::vector<float> scales;  // as a TfLiteFloatArray
  std::vector<int> zero_points;
  std::unique_ptr<TfLiteAffineQuantization> affine;
  std::vector<char> memory;  // of a temporary tensor
};

}  // namespace

// A node as a kernel sees it. The first tensors are the inputs and outputs; the kernel's temporaries follow.
class PresentedNode {
 public:
  PresentedNode(const TfLiteRegistration* kernel, const char* options, size_t size)
      : kernel_(kernel), context_{}, node_{} {
    context_.impl_ = this;
    context_.ResizeTensor = [](TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* dims) {
      return Self(context)->Resize(tensor, dims) ? kTfLiteOk : kTfLiteError;
    };
    context_.AddTensors = [](TfLiteContext* context, int count, int* first) {
      return Guarded([&] { return Self(context)->Add(count, first); }, [](const char*) { return kTfLiteError; });
    };
    context_.ReportError = ReportError;
    node_.custom_initial_data = options;
    node_.custom_initial_data_size = static_cast<int>(size);
    node_.intermediates = AsArray(intermediates_);
    // Kernels free the list and set one of their own.
    node_.temporaries = static_cast<TfLiteIntArray*>(std::calloc(1, sizeof(int)));
  }

  ~PresentedNode() {
    if (kernel_->free != nullptr && node_.user_data != nullptr) kernel_->free(&context_, node_.user_data);
    std::free(node_.temporaries);
  }

  bool Prepare(Host& host) {
    const Session session(*this, host);
    is_dynamic_.assign(static_cast<size_t>(host.outputs()), 0);
    if (!Show(host, true)) return false;
    if (!is_initialized_) {
      // Not before: the tensors that `init` may add follow those of the node.
      is_initialized_ = true;
      const auto* options = static_cast<const char*>(node_.custom_initial_data);
      const auto size = static_cast<size_t>(node_.custom_initial_data_size);
      if (kernel_->init != nullptr) node_.user_data = kernel_->init(&context_, options, size);
    }
    if (kernel_->prepare != nullptr && kernel_->prepare(&context_, &node_) != kTfLiteOk) return false;
    for (int i = 0; i < host.outputs(); ++i) {
      const TfLiteTensor& tensor = tensors_[static_cast<size_t>(host.inputs() + i)];
      if (tensor.allocation_type != kTfLiteDynamic) continue;
      if (!host.MakeDynamic(i)) return Refuse("the shape of an output depends on values");
      is_dynamic_[static_cast<size_t>(i)] = 1;
    }
    return true;
  }

  bool Invoke(Host& host) {
    const Session session(*this, host);
    return Show(host, false) && kernel_->invoke != nullptr && kernel_->invoke(&context_, &node_) == kTfLiteOk;
  }

 private:
  // The host of a call, for as long as that lasts.
  struct Session {
    Session(PresentedNode& node, Host& host) : node(node) {
      node.host_ = &host;
      node.context_.recommended_num_threads = host.threads();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { node.host_ = nullptr; }
    PresentedNode& node;
  };

  static PresentedNode* Self(TfLiteContext* context) { return static_cast<PresentedNode*>(context->impl_); }

  static void ReportError(TfLiteContext* context, const char* format, ...) {
    char message[1024];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (Self(context)->host_ != nullptr) Self(context)->host_->Report(message);
  }

  bool Refuse(const char* reason) {
    ReportError(&context_, "litefuse kernel %s: %s, which this runtime does not support\n",
                kernel_->custom_name == nullptr ? "" : kernel_->custom_name, reason);
    return false;
  }

  // Takes over the inputs and outputs as the runtime has them. Their scales are told in `Prepare` only.
  bool Show(Host& host, bool with_scales) {
    const int inputs = host.inputs(), count = inputs + host.outputs();
    if (!is_shown_) {
      tensors_.assign(static_cast<size_t>(count), TfLiteTensor{});
      storage_.resize(static_cast<size_t>(count));
      inputs_ = {inputs};
      outputs_ = {host.outputs()};
      for (int i = 0; i < count; ++i) (i < inputs ? inputs_ : outputs_).push_back(i);
      node_.inputs = AsArray(inputs_);
      node_.outputs = AsArray(outputs_);
      is_shown_ = true;
    }
    for (int i = 0; i < count; ++i) {
      TensorView view;
      const bool is_there = i < inputs ? host.Input(i, &view) : host.Output(i - inputs, &view);
      if (i < inputs) inputs_[static_cast<size_t>(i) + 1] = is_there ? i : -1;
      if (!is_there && i >= inputs) return Refuse("an output is absent");
      if (is_there) Take(static_cast<size_t>(i), view, with_scales);
      if (i >= inputs && is_dynamic_[static_cast<size_t>(i - inputs)] != 0) {
        // Without the memory of the call before, which is the runtime's to free.
        tensors_[static_cast<size_t>(i)].allocation_type = kTfLiteDynamic;
        tensors_[static_cast<size_t>(i)].data.raw = nullptr;
      }
    }
    context_.tensors = tensors_.data();
    context_.tensors_size = tensors_.size();
    return true;
  }

  void Take(size_t index, const TensorView& view, bool with_scales) {
    TfLiteTensor& tensor = tensors_[index];
    Storage& storage = storage_[index];
    storage.dims = NewArray(view.rank, view.dims);
    tensor.type = static_cast<TfLiteType>(view.type);
    tensor.data.raw = static_cast<char*>(view.data);
    tensor.dims = AsArray(storage.dims);
    tensor.bytes = view.bytes;
    tensor.is_variable = view.is_variable;
    if (view.name != nullptr) tensor.name = view.name;
    tensor.allocation_type = view.is_constant   ? kTfLiteMmapRo
                             : view.is_variable ? kTfLiteArenaRwPersistent
                                                : kTfLiteArenaRw;
    if (!with_scales) return;
    tensor.params = {};
    tensor.quantization = {};
    if (view.scale_count <= 0) return;
    storage.scales.assign(static_cast<size_t>(view.scale_count) + 1, 0);
    std::memcpy(storage.scales.data(), &view.scale_count, sizeof(int));
    std::memcpy(storage.scales.data() + 1, view.scales, sizeof(float) * static_cast<size_t>(view.scale_count));
    storage.zero_points = NewArray(view.zero_point_count, view.zero_points);
    storage.affine = std::make_unique<TfLiteAffineQuantization>();
    storage.affine->scale = reinterpret_cast<TfLiteFloatArray*>(storage.scales.data());
    storage.affine->zero_point = AsArray(storage.zero_points);
    storage.affine->quantized_dimension = view.axis;
    decltype(tensor.quantization.type) affine{};
    std::memcpy(&affine, &kAffine, sizeof(affine));
    tensor.quantization.type = affine;
    tensor.quantization.params = storage.affine.get();
    if (view.scale_count == 1) {
      tensor.params.scale = view.scales[0];
      tensor.params.zero_point = view.zero_point_count > 0 ? view.zero_points[0] : 0;
    }
  }

  // Of the runtime's function: takes over `dims`.
  bool Resize(TfLiteTensor* tensor, TfLiteIntArray* dims) {
    const std::unique_ptr<TfLiteIntArray, void (*)(void*)> owned(dims, std::free);
    const int* sizes = &dims->size + 1;
    const auto index = static_cast<size_t>(tensor - tensors_.data());
    const auto inputs = static_cast<size_t>(inputs_[0]), known = inputs + static_cast<size_t>(outputs_[0]);
    if (index >= known) return ResizeTemporary(index, *dims);
    if (index < inputs || host_ == nullptr) return Refuse("an input is resized");
    const auto output = static_cast<int>(index - inputs);
    const TfLiteAllocationType allocation = tensor->allocation_type;
    const bool is_new = allocation == kTfLiteDynamic && is_dynamic_[static_cast<size_t>(output)] == 0;
    if (is_new && !host_->MakeDynamic(output)) return Refuse("the shape of an output depends on values");
    if (is_new) is_dynamic_[static_cast<size_t>(output)] = 1;
    TensorView view;
    const bool is_string = host_->Output(output, &view) && view.type == kTfLiteString;
    if (is_string && tensor->type != kTfLiteString) return Refuse("an output has strings");
    if (!host_->Resize(output, dims->size, sizes) || !host_->Output(output, &view)) return false;
    Take(index, view, false);
    tensor->allocation_type = allocation;
    return true;
  }

  bool ResizeTemporary(size_t index, const TfLiteIntArray& dims) {
    TfLiteTensor& tensor = tensors_[index];
    Storage& storage = storage_[index];
    int64_t bytes = static_cast<int64_t>(ElementSize(tensor.type));
    if (bytes == 0) return Refuse("a temporary tensor is of strings or of no type");
    for (int i = 0; i < dims.size; ++i) {
      const int size = (&dims.size)[i + 1];
      if (size < 0 || !Multiply({bytes, size}, &bytes)) return Refuse("a temporary tensor has no such shape");
    }
    return Guarded(
        [&] {
          storage.dims = NewArray(dims.size, &dims.size + 1);
          storage.memory.resize(static_cast<size_t>(bytes));
          tensor.dims = AsArray(storage.dims);
          tensor.bytes = static_cast<size_t>(bytes);
          tensor.data.raw = storage.memory.data();
          return true;
        },
        [&](const char*) { return Refuse("not enough memory for a temporary tensor"); });
  }

  // Of the runtime's function: adds tensors of no type, which the kernel makes its temporaries.
  TfLiteStatus Add(int count, int* first) {
    if (count < 0) return kTfLiteError;
    if (first != nullptr) *first = static_cast<int>(tensors_.size());
    tensors_.resize(tensors_.size() + static_cast<size_t>(count), TfLiteTensor{});
    storage_.resize(tensors_.size());
    for (size_t i = tensors_.size() - static_cast<size_t>(count); i < tensors_.size(); ++i) {
      storage_[i].dims = {0};
      tensors_[i].dims = AsArray(storage_[i].dims);
      tensors_[i].allocation_type = kTfLiteArenaRw;
    }
    context_.tensors = tensors_.data();
    context_.tensors_size = tensors_.size();
    return kTfLiteOk;
  }

  static constexpr int kAffine = 1;  // kTfLiteAffineQuantization

  const TfLiteRegistration* kernel_;
  TfLiteContext context_;
  TfLiteNode node_;
  Host* host_ = nullptr;
  bool is_shown_ = false, is_initialized_ = false;
  std::vector<TfLiteTensor> tensors_;
  std::vector<Storage> storage_;
  std::vector<int> inputs_{0}, outputs_{0}, intermediates_{0};
  std::vector<char> is_dynamic_;
};

void* Init(const char* op, const char* options, size_t size) {
  for (const RegisteredKernel* each = RegisteredKernels(); each->name != nullptr; ++each) {
    if (op == nullptr || std::strcmp(each->name, op) != 0) continue;
    const TfLiteRegistration* kernel = each->get != nullptr ? each->get() : each->registration;
    if (kernel == nullptr) return nullptr;
    return Guarded([&]() -> void* { return new PresentedNode(kernel, options, size); },
                   [](const char*) -> void* { return nullptr; });
  }
  return nullptr;
}

namespace {

template <typename Function>
bool Call(void* node, Host& host, Function function) {
  if (node == nullptr) {
    host.Report("litefuse: not enough memory for a kernel, or no kernel\n");
    return false;
  }
  return Guarded([&] { return function(*static_cast<PresentedNode*>(node)); },
                 [&](const char* what) {
                   host.Report(what);
                   return false;
                 });
}

}  // namespace

bool Prepare(void* node, Host& host) {
  return Call(node, host, [&](PresentedNode& each) { return each.Prepare(host); });
}

bool Invoke(void* node, Host& host) {
  return Call(node, host, [&](PresentedNode& each) { return each.Invoke(host); });
}

void Free(void* node) { delete static_cast<PresentedNode*>(node); }

}  // namespace portable
}  // namespace litefuse
