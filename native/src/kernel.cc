#include "litefuse/kernel.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace litefuse {

int64_t NumElements(const Shape& shape) {
  int64_t count = 1;
  for (const int size : shape) count *= size;
  return count;
}

size_t ElementSize(TfLiteType type) {
  switch (type) {
    case kTfLiteUInt8:
    case kTfLiteInt8:
    case kTfLiteBool:
      return 1;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
    case kTfLiteBFloat16:
      return 2;
    case kTfLiteFloat32:
    case kTfLiteInt32:
    case kTfLiteUInt32:
      return 4;
    case kTfLiteInt64:
    case kTfLiteUInt64:
    case kTfLiteFloat64:
    case kTfLiteComplex64:
      return 8;
    case kTfLiteComplex128:
      return 16;
    default:
      return 0;
  }
}

const char* TypeName(TfLiteType type) {
  switch (type) {
    case kTfLiteFloat32: return "float32";
    case kTfLiteInt32: return "int32";
    case kTfLiteUInt8: return "uint8";
    case kTfLiteInt64: return "int64";
    case kTfLiteString: return "string";
    case kTfLiteBool: return "bool";
    case kTfLiteInt16: return "int16";
    case kTfLiteComplex64: return "complex64";
    case kTfLiteInt8: return "int8";
    case kTfLiteFloat16: return "float16";
    case kTfLiteFloat64: return "float64";
    case kTfLiteComplex128: return "complex128";
    case kTfLiteUInt64: return "uint64";
    case kTfLiteUInt32: return "uint32";
    case kTfLiteUInt16: return "uint16";
    case kTfLiteBFloat16: return "bfloat16";
    default: return "a type that kernels do not take";
  }
}

std::string Text(const std::vector<int>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "]";
}

Shape Tensor::shape() const {
  if (tensor_->dims == nullptr) return {};
  return Shape(tensor_->dims->data, tensor_->dims->data + tensor_->dims->size);
}

int64_t Tensor::size() const {
  int64_t count = 1;
  for (int axis = 0; axis < rank(); ++axis) count *= dim(axis);
  return count;
}

bool Tensor::is_constant() const {
  return tensor_->allocation_type == kTfLiteMmapRo || tensor_->allocation_type == kTfLitePersistentRo;
}

std::vector<int64_t> Tensor::integers() const {
  std::vector<int64_t> values(static_cast<size_t>(size()));
  if (type() == kTfLiteInt64) {
    std::copy_n(data<int64_t>(), values.size(), values.begin());
  } else {
    std::copy_n(data<int32_t>(), values.size(), values.begin());
  }
  return values;
}

bool Node::has_input(int index) const {
  return index < node_->inputs->size && node_->inputs->data[index] >= 0;
}

bool Node::Resize(int output, const Shape& shape) {
  for (const int size : shape) {
    if (size < 0) return Fail("output %d would have a size of %d", output, size);
  }
  // The runtime frees it.
  auto* dims = static_cast<TfLiteIntArray*>(std::malloc(sizeof(int) * (shape.size() + 1)));
  if (dims == nullptr) return Fail("no memory");
  dims->size = static_cast<int>(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    reinterpret_cast<int*>(dims)[axis + 1] = shape[axis];
  }
  TfLiteTensor* tensor = this->output(output).get();
  const TfLiteType type = tensor->type;
  if (IsDynamic(output) && NumElements(shape) == 0 && type != kTfLiteString) {
    // The runtime keeps the old memory of a dynamic tensor that becomes empty, and then finds it of the wrong size.
    // For strings it does not look.
    std::free(tensor->data.raw);
    tensor->data.raw = nullptr;
    tensor->bytes = 0;
    tensor->type = kTfLiteString;
  }
  const TfLiteStatus status = context_->ResizeTensor(context_, tensor, dims);
  tensor->type = type;
  return status == kTfLiteOk || Fail("the runtime does not give output %d its memory", output);
}

void Node::MakeDynamic(int output) {
  TfLiteTensor* tensor = this->output(output).get();
  if (tensor->allocation_type != kTfLiteDynamic) {
    tensor->allocation_type = kTfLiteDynamic;
    tensor->data.raw = nullptr;
  }
}

bool Node::CheckCounts(int inputs, int outputs) {
  if (this->inputs() == inputs && this->outputs() == outputs) {
    for (int i = 0; i < inputs; ++i) {
      if (!has_input(i)) return Fail("input %d is absent", i);
    }
    return true;
  }
  return Fail("has %d inputs and %d outputs, not %d and %d", this->inputs(), this->outputs(), inputs, outputs);
}

bool Node::CheckType(const char* name, const Tensor& tensor, std::initializer_list<TfLiteType> types) {
  if (std::find(types.begin(), types.end(), tensor.type()) != types.end()) return true;
  std::string allowed;
  for (const TfLiteType type : types) allowed += (allowed.empty() ? "" : ", ") + std::string(TypeName(type));
  return Fail("%s is of %s, not of %s", name, TypeName(tensor.type()), allowed.c_str());
}

bool Node::CheckRank(const char* name, const Tensor& tensor, int rank) {
  return tensor.rank() == rank || Fail("%s is of rank %d, not %d", name, tensor.rank(), rank);
}

bool Node::Fail(const char* format, ...) {
  char message[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  const char* name = outputs() > 0 && node_->outputs->data[0] >= 0 ? output(0).get()->name : nullptr;
  context_->ReportError(context_, "litefuse kernel %s, node %s: %s\n", op_, name == nullptr ? "" : name, message);
  return false;
}

namespace internal {

void* NewState(Kernel* kernel, const char* buffer, size_t length) {
  return new State{kernel, Options(buffer, length), false};
}

void FreeState(void* state) {
  if (state == nullptr) return;
  auto* known = static_cast<State*>(state);
  delete known->kernel;
  delete known;
}

TfLiteStatus Prepare(const char* op, TfLiteContext* context, TfLiteNode* node) {
  auto* state = static_cast<State*>(node->user_data);
  Node call(op, context, node);
  if (!state->configured) {
    if (!state->kernel->Configure(call, state->options)) return kTfLiteError;
    state->configured = true;
  }
  return state->kernel->Prepare(call) ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus Invoke(const char* op, TfLiteContext* context, TfLiteNode* node) {
  Node call(op, context, node);
  return static_cast<State*>(node->user_data)->kernel->Invoke(call) ? kTfLiteOk : kTfLiteError;
}

}  // namespace internal
}  // namespace litefuse
