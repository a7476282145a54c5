// Runs a library's kernel for one node, on any machine: app LIBRARY OP KIND OPTIONS INPUTS.
//
// KIND is `custom` or `composite`; OPTIONS is a file. INPUTS is a file of float32 tensors, each a rank, sizes (int32) and
// numbers. Prints the first output: its rank, sizes and numbers. It stands for LiteRT, which there is no library of for every
// machine: the delegate of the library claims the node.
#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "litefuse/delegate.h"

namespace {

// TfLiteContext is the part that kernels of this kit read; kernels of LiteRT's own headers may read beyond it.
union Context {
  TfLiteContext context;
  char bytes[512];
};

TfLiteIntArray* Array(const std::vector<int>& numbers) {
  auto* made = static_cast<TfLiteIntArray*>(std::malloc(sizeof(int) * (numbers.size() + 1)));
  made->size = static_cast<int>(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) made->data[i] = numbers[i];
  return made;
}

std::vector<TfLiteTensor> tensors;
TfLiteNode node;
TfLiteRegistration registration, claimed;
TfLiteIntArray* plan;
bool is_claimed = false;

TfLiteStatus Resize(TfLiteContext*, TfLiteTensor* tensor, TfLiteIntArray* dims) {
  std::free(tensor->dims);
  tensor->dims = dims;
  tensor->bytes = sizeof(float);
  for (int i = 0; i < dims->size; ++i) tensor->bytes *= static_cast<size_t>(dims->data[i]);
  std::free(tensor->data.raw);
  tensor->data.raw = static_cast<char*>(std::calloc(tensor->bytes + 1, 1));
  return kTfLiteOk;
}

void Report(TfLiteContext*, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
}

std::string Read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

template <typename Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 2;
  void* library = dlopen(arguments[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const std::string options = Read(arguments[4]), inputs = Read(arguments[5]);
  std::vector<int> taken;
  for (size_t at = 0; at < inputs.size();) {
    int rank;
    std::memcpy(&rank, &inputs[at], sizeof(rank));
    std::vector<int> sizes(static_cast<size_t>(rank));
    std::memcpy(sizes.data(), &inputs[at += sizeof(rank)], sizeof(int) * sizes.size());
    at += sizeof(int) * sizes.size();
    TfLiteTensor tensor{};
    tensor.type = kTfLiteFloat32;
    tensor.allocation_type = kTfLiteArenaRw;
    Resize(nullptr, &tensor, Array(sizes));
    std::memcpy(tensor.data.raw, &inputs[at], tensor.bytes);
    at += tensor.bytes;
    taken.push_back(static_cast<int>(tensors.size()));
    tensors.push_back(tensor);
  }
  TfLiteTensor output{};
  output.type = kTfLiteFloat32;
  output.allocation_type = kTfLiteArenaRw;
  output.dims = Array({});
  tensors.push_back(output);
  node.inputs = Array(taken);
  node.outputs = Array({static_cast<int>(tensors.size()) - 1});
  node.intermediates = Array({});
  TfLiteStablehloCompositeParams composite{};
  if (std::strcmp(arguments[3], "custom") == 0) {
    registration.builtin_code = kTfLiteBuiltinCustom;
    registration.custom_name = arguments[2];
    node.custom_initial_data = options.data();
    node.custom_initial_data_size = static_cast<int>(options.size());
  } else {
    registration.builtin_code = kTfLiteBuiltinStablehloComposite;
    composite.name = arguments[2];
    composite.attributes = reinterpret_cast<const uint8_t*>(options.data());
    composite.attributes_size = options.size();
    node.builtin_data = &composite;
  }
  plan = Array({0});
  static Context whole{};
  TfLiteContext* context = &whole.context;
  context->tensors = tensors.data();
  context->tensors_size = tensors.size();
  context->ResizeTensor = Resize;
  context->ReportError = Report;
  context->recommended_num_threads = 1;
  context->GetExecutionPlan = [](TfLiteContext*, TfLiteIntArray** found) {
    *found = plan;
    return kTfLiteOk;
  };
  context->GetNodeAndRegistration = [](TfLiteContext*, int, TfLiteNode** found, TfLiteRegistration** of) {
    *found = &node;
    *of = &registration;
    return kTfLiteOk;
  };
  context->ReplaceNodeSubsetsWithDelegateKernels = [](TfLiteContext*, TfLiteRegistration with, const TfLiteIntArray*,
                                                      TfLiteDelegate*) {
    claimed = with;
    is_claimed = true;
    return kTfLiteOk;
  };
  const auto create = Find<decltype(&tflite_plugin_create_delegate)>(library, "tflite_plugin_create_delegate");
  TfLiteDelegate* delegate = create(nullptr, nullptr, 0, nullptr);
  if (delegate->Prepare(context, delegate) != kTfLiteOk || !is_claimed) {
    std::fprintf(stderr, "the library has no kernel for %s\n", arguments[2]);
    return 3;
  }
  TfLiteDelegateParams params{delegate, plan, node.inputs, node.outputs};
  TfLiteNode own{};
  own.inputs = node.inputs;
  own.outputs = node.outputs;
  own.intermediates = Array({});
  own.temporaries = Array({});
  own.user_data = claimed.init(context, reinterpret_cast<const char*>(&params), 0);
  for (int round = 0; round < 2; ++round) {
    if (claimed.prepare(context, &own) != kTfLiteOk || claimed.invoke(context, &own) != kTfLiteOk) return 4;
  }
  const TfLiteTensor& result = tensors.back();
  std::printf("%d", result.dims->size);
  for (int i = 0; i < result.dims->size; ++i) std::printf(" %d", result.dims->data[i]);
  for (size_t i = 0; i < result.bytes / sizeof(float); ++i) {
    std::printf(" %.9g", static_cast<double>(reinterpret_cast<const float*>(result.data.raw)[i]));
  }
  std::printf("\n");
  claimed.free(context, own.user_data);
  return 0;
}
