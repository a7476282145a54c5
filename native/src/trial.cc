#include "litefuse/trial.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace litefuse {
namespace {

// Whether a shape is one that the model declares for a tensor: -1 stands for a size that may change, and no sizes at
// all for an unknown shape.
bool Fits(const TfLiteTensor& tensor, const TfLiteIntArray& shape) {
  const TfLiteIntArray* declared = tensor.dims;
  if (declared == nullptr || declared->size == 0) return true;
  if (tensor.dims_signature != nullptr && tensor.dims_signature->size == declared->size) {
    declared = tensor.dims_signature;
  }
  if (declared->size != shape.size) return false;
  for (int axis = 0; axis < shape.size; ++axis) {
    if (declared->data[axis] != -1 && declared->data[axis] != shape.data[axis]) return false;
  }
  return true;
}

TfLiteStatus Compare(TfLiteContext*, TfLiteTensor* tensor, TfLiteIntArray* shape) {
  const bool fits = Fits(*tensor, *shape);
  std::free(shape);  // the runtime would own it
  return fits ? kTfLiteOk : kTfLiteError;
}

void Silence(TfLiteContext*, const char*, ...) {}

struct Shared {
  std::mutex mutex;
  std::vector<const TfLiteRegistration*> kernels;
};

Shared& SharedKernels() {
  static Shared shared;
  return shared;
}

bool IsShared(const TfLiteRegistration* kernel) {
  Shared& shared = SharedKernels();
  const std::lock_guard<std::mutex> lock(shared.mutex);
  return std::find(shared.kernels.begin(), shared.kernels.end(), kernel) != shared.kernels.end();
}

}  // namespace

void MarkShared(const TfLiteRegistration* kernel) {
  Shared& shared = SharedKernels();
  const std::lock_guard<std::mutex> lock(shared.mutex);
  shared.kernels.push_back(kernel);
}

bool Leaves(const TfLiteRegistration* kernel, TfLiteContext* context, const TfLiteNode& node, const char* options,
            size_t size) {
  if (!IsShared(kernel)) return false;
  TfLiteContext quiet = *context;
  quiet.ResizeTensor = Compare;
  quiet.ReportError = Silence;
  TfLiteNode tried = node;
  tried.user_data = kernel->init(&quiet, options, size);
  const bool taken = kernel->prepare(&quiet, &tried) == kTfLiteOk;
  kernel->free(&quiet, tried.user_data);
  return !taken;
}

}  // namespace litefuse
