// An app in C++ that runs a model of one float input and one float output in CompiledModel, with the pack's kernels:
// app MODEL ELEMENTS. It prints the outputs for the inputs 0, 0.125, 0.25, ...
#include <cstdio>
#include <cstdlib>

#include "litefuse/compiled_model.h"

extern "C" {
typedef class LiteRtModelT* LiteRtModel;
typedef class LiteRtCompiledModelT* LiteRtCompiledModel;
typedef class LiteRtTensorBufferT* LiteRtTensorBuffer;
typedef class LiteRtTensorBufferRequirementsT* LiteRtTensorBufferRequirements;
struct Type {
  int element;
  unsigned rank;
  int dims[8];
  unsigned strides[8];
};
LiteRtStatus LiteRtCreateEnvironment(int, const void*, LiteRtEnvironment*);
LiteRtStatus LiteRtCreateModelFromFile(LiteRtEnvironment, const char*, LiteRtModel*);
LiteRtStatus LiteRtCreateOptions(LiteRtOptions*);
LiteRtStatus LiteRtSetOptionsHardwareAccelerators(LiteRtOptions, int);
LiteRtStatus LiteRtCreateCompiledModel(LiteRtEnvironment, LiteRtModel, LiteRtOptions, LiteRtCompiledModel*);
LiteRtStatus LiteRtGetCompiledModelInputBufferRequirements(LiteRtCompiledModel, size_t, size_t,
                                                           LiteRtTensorBufferRequirements*);
LiteRtStatus LiteRtGetCompiledModelOutputBufferRequirements(LiteRtCompiledModel, size_t, size_t,
                                                            LiteRtTensorBufferRequirements*);
LiteRtStatus LiteRtCreateManagedTensorBufferFromRequirements(LiteRtEnvironment, const Type*,
                                                             LiteRtTensorBufferRequirements, LiteRtTensorBuffer*);
LiteRtStatus LiteRtLockTensorBuffer(LiteRtTensorBuffer, void**, int);
LiteRtStatus LiteRtUnlockTensorBuffer(LiteRtTensorBuffer);
LiteRtStatus LiteRtRunCompiledModel(LiteRtCompiledModel, size_t, size_t, LiteRtTensorBuffer*, size_t,
                                    LiteRtTensorBuffer*);
void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer);
void LiteRtDestroyCompiledModel(LiteRtCompiledModel);
void LiteRtDestroyOptions(LiteRtOptions);
void LiteRtDestroyModel(LiteRtModel);
void LiteRtDestroyEnvironment(LiteRtEnvironment);
}

namespace {
void Check(LiteRtStatus status) {
  if (status != kLiteRtStatusOk) std::exit(static_cast<int>(status));
}
}  // namespace

int main(int, char** arguments) {
  const int size = std::atoi(arguments[2]);
  LiteRtEnvironment environment;
  LiteRtModel model;
  LiteRtOptions options;
  LiteRtCompiledModel compiled;
  Check(LiteRtCreateEnvironment(0, nullptr, &environment));
  if (!litefuse::AddKernels(environment)) return 99;
  Check(LiteRtCreateModelFromFile(environment, arguments[1], &model));
  Check(LiteRtCreateOptions(&options));
  Check(LiteRtSetOptionsHardwareAccelerators(options, 1));
  Check(LiteRtCreateCompiledModel(environment, model, options, &compiled));
  LiteRtTensorBufferRequirements requirements;
  LiteRtTensorBuffer buffers[2];
  const Type type{1, 1, {size}, {}};
  Check(LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, 0, &requirements));
  Check(LiteRtCreateManagedTensorBufferFromRequirements(environment, &type, requirements, &buffers[0]));
  Check(LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, 0, &requirements));
  Check(LiteRtCreateManagedTensorBufferFromRequirements(environment, &type, requirements, &buffers[1]));
  void* memory;
  Check(LiteRtLockTensorBuffer(buffers[0], &memory, 1));
  for (int i = 0; i < size; ++i) static_cast<float*>(memory)[i] = 0.125f * static_cast<float>(i);
  Check(LiteRtUnlockTensorBuffer(buffers[0]));
  for (int round = 0; round < 2; ++round) {
    Check(LiteRtRunCompiledModel(compiled, 0, 1, &buffers[0], 1, &buffers[1]));
    Check(LiteRtLockTensorBuffer(buffers[1], &memory, 0));
    for (int i = 0; i < size; ++i) std::printf("%.9g ", static_cast<double>(static_cast<float*>(memory)[i]));
    Check(LiteRtUnlockTensorBuffer(buffers[1]));
  }
  for (LiteRtTensorBuffer each : buffers) LiteRtDestroyTensorBuffer(each);
  LiteRtDestroyCompiledModel(compiled);
  LiteRtDestroyOptions(options);
  LiteRtDestroyModel(model);
  LiteRtDestroyEnvironment(environment);
  return 0;
}
