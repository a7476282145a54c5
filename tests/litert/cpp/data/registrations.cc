// Registrations in C, as plain as they can be: what a delegate must call, plan and pass on for each.
#include <cstdlib>
#include <cstring>
#include <new>

#include "litefuse/registry.h"
#include "litefuse/tflite.h"

namespace {

TfLiteTensor& Input(TfLiteContext* context, TfLiteNode* node, int i) { return context->tensors[node->inputs->data[i]]; }
TfLiteTensor& Output(TfLiteContext* context, TfLiteNode* node, int i) {
  return context->tensors[node->outputs->data[i]];
}
TfLiteTensor& Temporary(TfLiteContext* context, TfLiteNode* node, int i) {
  return context->tensors[node->temporaries->data[i]];
}
float* Floats(TfLiteTensor& tensor) { return static_cast<float*>(tensor.data.data); }
size_t Size(const TfLiteTensor& tensor) { return tensor.bytes / sizeof(float); }

TfLiteIntArray* Create(int size) {
  auto* made = static_cast<TfLiteIntArray*>(std::malloc(sizeof(int) * (static_cast<size_t>(size) + 1)));
  made->size = size;
  return made;
}

TfLiteIntArray* Copy(const TfLiteIntArray* array) {
  TfLiteIntArray* made = Create(array->size);
  std::memcpy(made->data, array->data, sizeof(int) * static_cast<size_t>(array->size));
  return made;
}

TfLiteStatus ResizeLike(TfLiteContext* context, TfLiteTensor& tensor, const TfLiteTensor& other) {
  return context->ResizeTensor(context, &tensor, Copy(other.dims));
}

// Prepare and invoke alone: the output is the input, doubled.
TfLiteStatus PrepareLikeInput(TfLiteContext* context, TfLiteNode* node) {
  return ResizeLike(context, Output(context, node, 0), Input(context, node, 0));
}
TfLiteStatus Double(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor& y = Output(context, node, 0);
  for (size_t i = 0; i < Size(y); ++i) Floats(y)[i] = 2 * Floats(Input(context, node, 0))[i];
  return kTfLiteOk;
}

// Invoke alone: every output is filled with 7.
TfLiteStatus Fill(TfLiteContext* context, TfLiteNode* node) {
  for (int each = 0; each < node->outputs->size; ++each) {
    TfLiteTensor& y = Output(context, node, each);
    for (size_t i = 0; i < Size(y); ++i) Floats(y)[i] = 7;
  }
  return kTfLiteOk;
}

// Temporaries: one in the arena, a persistent one, one that is dynamic. The output is the input reversed, plus the
// number of calls before this one, which the persistent one keeps.
struct Reversal {
  int first_temporary;
  bool is_fresh;  // since the memory was planned, which is not cleared
};
void* AddTemporaries(TfLiteContext* context, const char*, size_t) {
  auto* made = new Reversal;
  context->AddTensors(context, 3, &made->first_temporary);
  return made;
}
void DeleteReversal(TfLiteContext*, void* data) { delete static_cast<Reversal*>(data); }
TfLiteStatus PrepareTemporaries(TfLiteContext* context, TfLiteNode* node) {
  std::free(node->temporaries);
  node->temporaries = Create(3);
  auto* reversal = static_cast<Reversal*>(node->user_data);
  reversal->is_fresh = true;
  for (int i = 0; i < 3; ++i) node->temporaries->data[i] = reversal->first_temporary + i;
  const TfLiteAllocationType kinds[] = {kTfLiteArenaRw, kTfLiteArenaRwPersistent, kTfLiteDynamic};
  for (int i = 0; i < 3; ++i) {
    Temporary(context, node, i).type = kTfLiteFloat32;
    Temporary(context, node, i).allocation_type = kinds[i];
  }
  const TfLiteTensor& x = Input(context, node, 0);
  TfLiteIntArray* one = Create(1);
  one->data[0] = 1;
  if (context->ResizeTensor(context, &Temporary(context, node, 1), one) != kTfLiteOk) return kTfLiteError;
  if (ResizeLike(context, Temporary(context, node, 0), x) != kTfLiteOk) return kTfLiteError;
  return ResizeLike(context, Output(context, node, 0), x);
}
TfLiteStatus Reverse(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor& x = Input(context, node, 0);
  TfLiteTensor& y = Output(context, node, 0);
  if (ResizeLike(context, Temporary(context, node, 2), x) != kTfLiteOk) return kTfLiteError;
  float* planned = Floats(Temporary(context, node, 0));
  float* calls = Floats(Temporary(context, node, 1));
  float* dynamic = Floats(Temporary(context, node, 2));
  auto* reversal = static_cast<Reversal*>(node->user_data);
  if (reversal->is_fresh) *calls = 0;
  reversal->is_fresh = false;
  const size_t size = Size(x);
  for (size_t i = 0; i < size; ++i) planned[i] = static_cast<float*>(x.data.data)[i];
  for (size_t i = 0; i < size; ++i) dynamic[i] = planned[size - 1 - i];
  for (size_t i = 0; i < size; ++i) Floats(y)[i] = dynamic[i] + *calls;
  *calls += 1;
  return kTfLiteOk;
}

// The options, as init, prepare and invoke see them: their sums, and how many bytes there are.
float Sum(const void* data, int size) {
  float sum = 0;
  for (int i = 0; i < size; ++i) sum += static_cast<float>(static_cast<const uint8_t*>(data)[i]);
  return sum;
}
struct Seen {
  float in_init, in_prepare;
};
void* SeeInit(TfLiteContext*, const char* buffer, size_t length) {
  return new Seen{Sum(buffer, static_cast<int>(length)), -1};
}
void DeleteSeen(TfLiteContext*, void* data) { delete static_cast<Seen*>(data); }
TfLiteStatus SeePrepare(TfLiteContext*, TfLiteNode* node) {
  static_cast<Seen*>(node->user_data)->in_prepare = Sum(node->custom_initial_data, node->custom_initial_data_size);
  return node->intermediates == nullptr ? kTfLiteError : kTfLiteOk;
}
TfLiteStatus SeeInvoke(TfLiteContext* context, TfLiteNode* node) {
  const auto* seen = static_cast<const Seen*>(node->user_data);
  float* y = Floats(Output(context, node, 0));
  y[0] = seen->in_init;
  y[1] = seen->in_prepare;
  y[2] = Sum(node->custom_initial_data, node->custom_initial_data_size);
  y[3] = static_cast<float>(node->custom_initial_data_size);
  y[4] = node->builtin_data == nullptr ? 0 : 1;
  return kTfLiteOk;
}

// A running sum, kept in a variable tensor, which is the second input.
TfLiteStatus Accumulate(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor& state = Input(context, node, 1);
  if (!state.is_variable || state.allocation_type != kTfLiteArenaRwPersistent) return kTfLiteError;
  for (size_t i = 0; i < Size(state); ++i) Floats(state)[i] += Floats(Input(context, node, 0))[i];
  std::memcpy(Floats(Output(context, node, 0)), Floats(state), state.bytes);
  return kTfLiteOk;
}

void* FailToInit(TfLiteContext*, const char*, size_t) { return reinterpret_cast<void*>(-1); }
TfLiteStatus Throw(TfLiteContext*, TfLiteNode*) { throw std::bad_alloc(); }

template <int which>
const TfLiteRegistration* Get() {
  static const TfLiteRegistration registration = [] {
    TfLiteRegistration made{};
    made.invoke = Fill;
    if (which == 0) made.prepare = PrepareLikeInput, made.invoke = Double;
    if (which == 2) made.init = AddTemporaries, made.free = DeleteReversal;
    if (which == 2) made.prepare = PrepareTemporaries, made.invoke = Reverse;
    if (which == 3) made.init = SeeInit, made.free = DeleteSeen, made.prepare = SeePrepare, made.invoke = SeeInvoke;
    if (which == 4) made.invoke = Accumulate;
    if (which == 5) made.init = FailToInit;
    if (which == 6) made.invoke = Throw;
    if (which == 7) made.invoke = nullptr;
    return made;
  }();
  return &registration;
}

}  // namespace

const litefuse::RegisteredKernel* litefuse::RegisteredKernels() {
  static const RegisteredKernel kernels[] = {
      {"Double", Get<0>},     {"Fill", Get<1>},   {"Reverse", Get<2>},   {"See", Get<3>},        {"Accumulate", Get<4>},
      {"FailToInit", Get<5>}, {"Throw", Get<6>},  {"NoInvoke", Get<7>},  {"NoGetter", nullptr},
      {"Nothing", [] { return static_cast<const TfLiteRegistration*>(nullptr); }},
      {nullptr, nullptr}};
  return kernels;
}
