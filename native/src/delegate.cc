#include "litefuse/delegate.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "litefuse/guarded.h"
#include "litefuse/registry.h"

namespace {

using litefuse::Guarded;
using litefuse::RegisteredKernel;

// A node of the model that a kernel took over. The runtime shows the kernel a node of its own, whose inputs stand in
// another order and which lacks the outputs that nothing reads, so that the model's is kept.
struct ClaimedNode {
  const TfLiteRegistration* kernel;
  std::vector<int> inputs;  // as a TfLiteIntArray: the size, then the indices
  std::vector<int> outputs;
  TfLiteNode node;
};

std::vector<int> Copy(const TfLiteIntArray* array) {
  const int* begin = &array->size;
  return std::vector<int>(begin, begin + array->size + 1);
}

const TfLiteRegistration* FindKernel(const char* name) {
  for (const RegisteredKernel* each = litefuse::RegisteredKernels(); each->name != nullptr; ++each) {
    if (name != nullptr && std::strcmp(each->name, name) == 0) return each->get();
  }
  return nullptr;
}

// The kernel for a node of the model and the node's options, or null.
const TfLiteRegistration* KernelOf(const TfLiteNode& node, const TfLiteRegistration& registration, const char** options,
                                   size_t* size) {
  if (registration.builtin_code == kTfLiteBuiltinCustom) {
    *options = static_cast<const char*>(node.custom_initial_data);
    *size = node.custom_initial_data_size > 0 ? static_cast<size_t>(node.custom_initial_data_size) : 0;
    return FindKernel(registration.custom_name);
  }
  if (registration.builtin_code == kTfLiteBuiltinStablehloComposite && node.builtin_data != nullptr) {
    const auto* composite = static_cast<const TfLiteStablehloCompositeParams*>(node.builtin_data);
    *options = reinterpret_cast<const char*>(composite->attributes);
    *size = composite->attributes_size;
    return FindKernel(composite->name);
  }
  return nullptr;
}

void* Claim(TfLiteContext* context, const TfLiteDelegateParams& params) {
  TfLiteNode* node;
  TfLiteRegistration* registration;
  if (context->GetNodeAndRegistration(context, params.nodes_to_replace->data[0], &node, &registration) != kTfLiteOk) {
    return nullptr;
  }
  const char* options;
  size_t size;
  const TfLiteRegistration* kernel = KernelOf(*node, *registration, &options, &size);
  if (kernel == nullptr) return nullptr;
  std::unique_ptr<ClaimedNode> claimed(new ClaimedNode{kernel, Copy(node->inputs), Copy(node->outputs), TfLiteNode{}});
  claimed->node.inputs = reinterpret_cast<TfLiteIntArray*>(claimed->inputs.data());
  claimed->node.outputs = reinterpret_cast<TfLiteIntArray*>(claimed->outputs.data());
  if (kernel->init != nullptr) claimed->node.user_data = kernel->init(context, options, size);
  return claimed.release();
}

// Gives the outputs that nothing reads memory of their own: the runtime does not know them as outputs of the node that
// it runs, and plans none for them. As dynamic tensors they get it when the kernel resizes them.
void MakeUnreadDynamic(TfLiteContext* context, const TfLiteIntArray& known, const std::vector<int>& outputs) {
  for (size_t i = 1; i < outputs.size(); ++i) {
    const int index = outputs[i];
    if (index < 0 || std::find(known.data, known.data + known.size, index) != known.data + known.size) continue;
    TfLiteTensor& tensor = context->tensors[index];
    if (tensor.allocation_type == kTfLiteDynamic || tensor.allocation_type == kTfLiteMmapRo) continue;
    tensor.allocation_type = kTfLiteDynamic;
    tensor.data.raw = nullptr;
  }
}

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  return Guarded([&] { return Claim(context, *reinterpret_cast<const TfLiteDelegateParams*>(buffer)); },
                 [](const char*) -> void* { return nullptr; });  // Prepare says so
}

void Free(TfLiteContext* context, void* data) {
  if (data == nullptr) return;
  auto* claimed = static_cast<ClaimedNode*>(data);
  if (claimed->kernel->free != nullptr) claimed->kernel->free(context, claimed->node.user_data);
  delete claimed;
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  auto* claimed = static_cast<ClaimedNode*>(node->user_data);
  if (claimed == nullptr) {
    context->ReportError(context, "litefuse: there is no memory for a kernel\n");
    return kTfLiteError;
  }
  MakeUnreadDynamic(context, *node->outputs, claimed->outputs);
  return claimed->kernel->prepare == nullptr ? kTfLiteOk : claimed->kernel->prepare(context, &claimed->node);
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  auto* claimed = static_cast<ClaimedNode*>(node->user_data);
  return claimed->kernel->invoke(context, &claimed->node);
}

TfLiteStatus ClaimNodes(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  const std::vector<int> nodes(plan->data, plan->data + plan->size);  // it changes with each replacement
  for (const int index : nodes) {
    TfLiteNode* node;
    TfLiteRegistration* registration;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) return kTfLiteError;
    const char* options;
    size_t size;
    const TfLiteRegistration* kernel = KernelOf(*node, *registration, &options, &size);
    if (kernel == nullptr) continue;
    TfLiteRegistration replacement{};
    replacement.init = Init;
    replacement.free = Free;
    replacement.prepare = Prepare;
    replacement.invoke = Invoke;
    replacement.builtin_code = kTfLiteBuiltinDelegate;
    replacement.custom_name = kernel->custom_name;
    replacement.version = 1;
    // One call for each: given several, the runtime fuses neighbors into one and plans no memory between them.
    const int one[] = {1, index};  // as a TfLiteIntArray: the size, then the indices
    const auto* subset = reinterpret_cast<const TfLiteIntArray*>(one);
    if (context->ReplaceNodeSubsetsWithDelegateKernels(context, replacement, subset, delegate) != kTfLiteOk) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

// The runtime calls it for each subgraph.
TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate) {
  return Guarded([&] { return ClaimNodes(context, delegate); }, [](const char*) { return kTfLiteError; });
}

}  // namespace

extern "C" const char* const* litefuse_kernel_names(void) {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> made;
    for (const RegisteredKernel* each = litefuse::RegisteredKernels(); each->name != nullptr; ++each) {
      made.push_back(each->name);
    }
    made.push_back(nullptr);
    return made;
  }();
  return names.data();
}

extern "C" TfLiteDelegate* tflite_plugin_create_delegate(const char* const*, const char* const*, size_t,
                                                         void (*)(const char*)) {
  auto* delegate = new (std::nothrow) TfLiteDelegate{};
  if (delegate == nullptr) return nullptr;
  delegate->Prepare = PrepareDelegate;
  delegate->flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  return delegate;
}

extern "C" void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { delete delegate; }
