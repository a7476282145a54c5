#include "litefuse/delegate.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "exact_memory.h"
#include "litefuse/guarded.h"
#include "litefuse/registry.h"
#include "litefuse/trial.h"

namespace {

using litefuse::Guarded;
using litefuse::RegisteredKernel;

// What init of a kernel returns if it failed; the runtime knows it by this value.
void* const kInitFailed = reinterpret_cast<void*>(-1);

// A node of the model that a kernel took over. The runtime shows the kernel a node of its own, whose inputs stand in
// another order and which lacks the options and the outputs that nothing reads, so that the model's is kept.
struct ClaimedNode {
  const TfLiteRegistration* kernel;
  const char* name;
  std::vector<int> inputs;  // as a TfLiteIntArray: the size, then the indices
  std::vector<int> outputs;
  std::vector<int> intermediates;
  TfLiteNode node;
};

// What a library has for a node of the model.
struct Match {
  const char* name;
  const TfLiteRegistration* kernel;  // null if there is none
  const char* options;               // null if the node has none
  size_t size;
};

std::vector<int> Copy(const TfLiteIntArray* array) {
  if (array == nullptr) return {0};
  const int* begin = &array->size;
  return std::vector<int>(begin, begin + array->size + 1);
}

TfLiteIntArray* ArrayOf(std::vector<int>& numbers) { return reinterpret_cast<TfLiteIntArray*>(numbers.data()); }

// The kernel for a node of the model and the node's options.
Match KernelOf(const TfLiteNode& node, const TfLiteRegistration& registration) {
  Match found{nullptr, nullptr, nullptr, 0};
  if (registration.builtin_code == kTfLiteBuiltinCustom) {
    found.name = registration.custom_name;
    found.options = static_cast<const char*>(node.custom_initial_data);
    found.size = node.custom_initial_data_size > 0 ? static_cast<size_t>(node.custom_initial_data_size) : 0;
  } else if (registration.builtin_code == kTfLiteBuiltinStablehloComposite && node.builtin_data != nullptr) {
    const auto* composite = static_cast<const TfLiteStablehloCompositeParams*>(node.builtin_data);
    found.name = composite->name;
    found.options = reinterpret_cast<const char*>(composite->attributes);
    found.size = composite->attributes_size;
  }
  if (found.name == nullptr) return found;
  for (const RegisteredKernel* each = litefuse::RegisteredKernels(); each->name != nullptr; ++each) {
    if (std::strcmp(each->name, found.name) != 0) continue;
    found.name = each->name;
    found.kernel = each->get != nullptr ? each->get() : each->registration;
    break;
  }
  return found;
}

void* Claim(TfLiteContext* context, const TfLiteDelegateParams& params) {
  TfLiteNode* node;
  TfLiteRegistration* registration;
  if (context->GetNodeAndRegistration(context, params.nodes_to_replace->data[0], &node, &registration) != kTfLiteOk) {
    return nullptr;
  }
  const Match match = KernelOf(*node, *registration);
  if (match.kernel == nullptr) return nullptr;
  std::unique_ptr<ClaimedNode> claimed(new ClaimedNode{match.kernel, match.name, Copy(node->inputs),
                                                       Copy(node->outputs), Copy(node->intermediates), TfLiteNode{}});
  claimed->node.inputs = ArrayOf(claimed->inputs);
  claimed->node.outputs = ArrayOf(claimed->outputs);
  claimed->node.intermediates = ArrayOf(claimed->intermediates);
  claimed->node.builtin_data = node->builtin_data;
  claimed->node.custom_initial_data = match.options;
  claimed->node.custom_initial_data_size = static_cast<int>(match.size);
  claimed->node.might_have_side_effect = node->might_have_side_effect;
  if (match.kernel->init != nullptr) {
    claimed->node.user_data = match.kernel->init(context, match.options, match.size);
    if (claimed->node.user_data == kInitFailed) return kInitFailed;
  }
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

// Gives those memory that the kernel did not resize, because their shapes in the model are what it computes.
TfLiteStatus AllocateUnread(TfLiteContext* context, const TfLiteIntArray& known, const std::vector<int>& outputs) {
  for (size_t i = 1; i < outputs.size(); ++i) {
    const int index = outputs[i];
    if (index < 0 || std::find(known.data, known.data + known.size, index) != known.data + known.size) continue;
    TfLiteTensor& tensor = context->tensors[index];
    if (tensor.allocation_type != kTfLiteDynamic || tensor.data.raw != nullptr || tensor.dims == nullptr) continue;
    const size_t bytes = sizeof(int) * (static_cast<size_t>(tensor.dims->size) + 1);
    auto* dims = static_cast<TfLiteIntArray*>(std::malloc(bytes));  // the runtime frees it
    if (dims == nullptr) return kTfLiteError;
    std::memcpy(dims, tensor.dims, bytes);
    if (context->ResizeTensor(context, &tensor, dims) != kTfLiteOk) return kTfLiteError;
  }
  return kTfLiteOk;
}

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  return Guarded([&] { return Claim(context, *reinterpret_cast<const TfLiteDelegateParams*>(buffer)); },
                 [](const char*) -> void* { return nullptr; });  // Prepare says so
}

void Free(TfLiteContext* context, void* data) {
  if (data == nullptr) return;
  auto* claimed = static_cast<ClaimedNode*>(data);
  if (claimed->kernel->free != nullptr && claimed->node.user_data != nullptr) {
    claimed->kernel->free(context, claimed->node.user_data);
  }
  delete claimed;
}

// Calls a function of a kernel with the model's node. Its temporaries are those of the runtime's node: the runtime plans
// their memory, and frees the array; a kernel may put another in its place.
TfLiteStatus Call(TfLiteContext* context, TfLiteNode* node, TfLiteStatus (*function)(TfLiteContext*, TfLiteNode*)) {
  auto* claimed = static_cast<ClaimedNode*>(node->user_data);
  claimed->node.temporaries = node->temporaries;
#ifdef LITEFUSE_EXACT_MEMORY
  const litefuse::ExactMemory exact(context, claimed->node, function == claimed->kernel->prepare);
#endif
  const TfLiteStatus status = Guarded([&] { return function(context, &claimed->node); },
                                      [&](const char* what) {
                                        context->ReportError(context, "litefuse: the kernel %s throws: %s\n",
                                                             claimed->name, what);
                                        return kTfLiteError;
                                      });
  node->temporaries = claimed->node.temporaries;
  claimed->node.temporaries = nullptr;
  return status;
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  auto* claimed = static_cast<ClaimedNode*>(node->user_data);
  if (claimed == nullptr) {
    context->ReportError(context, "litefuse: not enough memory for a kernel\n");
    return kTfLiteError;
  }
  if (claimed->kernel->invoke == nullptr) {
    context->ReportError(context, "litefuse: the kernel %s has no function invoke\n", claimed->name);
    return kTfLiteError;
  }
  MakeUnreadDynamic(context, *node->outputs, claimed->outputs);
  if (claimed->kernel->prepare != nullptr) {
    const TfLiteStatus status = Call(context, node, claimed->kernel->prepare);
    if (status != kTfLiteOk) return status;
  }
  return AllocateUnread(context, *node->outputs, claimed->outputs);
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  return Call(context, node, static_cast<ClaimedNode*>(node->user_data)->kernel->invoke);
}

TfLiteStatus ClaimNodes(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  const std::vector<int> nodes(plan->data, plan->data + plan->size);  // it changes with each replacement
  for (const int index : nodes) {
    TfLiteNode* node;
    TfLiteRegistration* registration;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) return kTfLiteError;
    const Match match = KernelOf(*node, *registration);
    if (match.kernel == nullptr) continue;
    if (litefuse::Leaves(match.kernel, context, *node, match.options, match.size)) continue;
    TfLiteRegistration replacement{};
    replacement.init = Init;
    replacement.free = Free;
    replacement.prepare = Prepare;
    replacement.invoke = Invoke;
    replacement.builtin_code = kTfLiteBuiltinDelegate;
    replacement.custom_name = match.name;
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
