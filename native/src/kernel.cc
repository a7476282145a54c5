#include "litefuse/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "litefuse/utf8.h"

namespace litefuse {

namespace {

// The runtime's buffer of strings counts them, and its own bytes, with int32; see strings.h.
constexpr int64_t kMostStrings = std::numeric_limits<int32_t>::max() / static_cast<int64_t>(sizeof(int32_t)) - 2;

// Whether the bytes of so many elements can be counted.
bool IsAddressable(const Shape& shape, TfLiteType type) {
  int64_t bytes = NumElements(shape);
  if (type == kTfLiteString) return bytes <= kMostStrings;
  return Multiply({bytes, static_cast<int64_t>(ElementSize(type))}, &bytes) && bytes <= PTRDIFF_MAX;
}

// A message in UTF-8, whatever bytes it has: those that are no text become \xNN.
std::string Printable(const char* message) {
  std::string text;
  const std::string_view bytes(message);
  for (size_t at = 0; at < bytes.size();) {
    uint32_t code;
    const size_t length = DecodeCharacter(bytes.substr(at), &code);
    if (length == 0) {
      char escaped[5];
      std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(bytes[at])));
      text += escaped;
    } else {
      text += bytes.substr(at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  return text;
}

}  // namespace

bool Multiply(std::initializer_list<int64_t> factors, int64_t* product) {
  int64_t result = 1;
  bool zero = false;
  for (const int64_t factor : factors) zero = zero || factor == 0;
  for (const int64_t factor : factors) {
    if (factor < 0) return false;
    if (zero) continue;
    if (result > std::numeric_limits<int64_t>::max() / factor) return false;
    result *= factor;
  }
  *product = zero ? 0 : result;
  return true;
}

int64_t NumElements(const Shape& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (const int size : shape) {
    if (!Multiply({count, size}, &count)) return std::numeric_limits<int64_t>::max();
  }
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

int64_t Tensor::size() const { return NumElements(shape()); }

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

Quantization Tensor::quantization() const {
  switch (type()) {
    case kTfLiteInt4:
    case kTfLiteInt8:
    case kTfLiteInt16:
    case kTfLiteInt32:
    case kTfLiteInt64:
    case kTfLiteUInt8:
    case kTfLiteUInt16:
    case kTfLiteUInt32:
    case kTfLiteUInt64:
      break;
    default:
      return {};
  }
  const auto is_scale = [](float scale) { return std::isfinite(scale) && scale > 0; };
  if (tensor_->quantization.type == kTfLiteNoQuantization) {
    if (!is_scale(tensor_->params.scale)) return {};
    return Quantization(&tensor_->params.scale, 1, &tensor_->params.zero_point, 1, 0);
  }
  if (tensor_->quantization.type != kTfLiteAffineQuantization || tensor_->quantization.params == nullptr) return {};
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(tensor_->quantization.params);
  const TfLiteFloatArray* scales = affine->scale;
  const TfLiteIntArray* zeros = affine->zero_point;
  if (scales == nullptr || zeros == nullptr || scales->size < 1) return {};
  if (zeros->size != 1 && zeros->size != scales->size) return {};
  const int axis = scales->size == 1 ? 0 : affine->quantized_dimension;
  if (scales->size > 1 && (axis < 0 || axis >= rank())) return {};
  if (!std::all_of(scales->data, scales->data + scales->size, is_scale)) return {};
  return Quantization(scales->data, scales->size, zeros->data, zeros->size, axis);
}

bool Node::has_input(int index) const {
  return index < node_->inputs->size && node_->inputs->data[index] >= 0;
}

bool Node::Resize(int output, const Shape& shape) {
  for (const int size : shape) {
    if (size < 0) return Fail("output %d would have a size of %d", output, size);
  }
  if (!IsAddressable(shape, this->output(output).type())) {
    return Fail("output %d would be of the shape %s, which does not fit in memory", output, Text(shape).c_str());
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
  const bool lacks_memory = IsDynamic(output) && tensor->bytes > 0 && tensor->data.raw == nullptr;
  if (status == kTfLiteOk && !lacks_memory) return true;
  return Fail("the runtime does not give output %d the memory for the shape %s", output, Text(shape).c_str());
}

void Node::MakeDynamic(int output) {
  TfLiteTensor* tensor = this->output(output).get();
  if (tensor->allocation_type != kTfLiteDynamic) {
    tensor->allocation_type = kTfLiteDynamic;
    tensor->data.raw = nullptr;
  }
}

bool Node::CheckOutputs() {
  for (int i = 0; i < outputs(); ++i) {
    const int index = node_->outputs->data[i];
    if (index < 0) return Fail("output %d is absent", i);
    if (output(i).is_constant()) return Fail("output %d is a constant", i);
    for (int other = 0; other < i; ++other) {
      if (node_->outputs->data[other] == index) return Fail("outputs %d and %d are one tensor", other, i);
    }
    for (int input = 0; input < inputs(); ++input) {
      if (node_->inputs->data[input] == index) return Fail("output %d is input %d as well", i, input);
    }
  }
  return true;
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

bool Node::CheckSameScale(int input, int output) {
  const Quantization from = this->input(input).quantization(), to = this->output(output).quantization();
  if (from.IsSameScale(to)) return true;
  return Fail("output %d must have the scale and the zero point of input %d, one for the whole tensor", output, input);
}

bool Node::Fail(const char* format, ...) {
  char message[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  const char* name = outputs() > 0 && node_->outputs->data[0] >= 0 ? output(0).get()->name : nullptr;
  Guarded(
      [&] {
        context_->ReportError(context_, "litefuse kernel %s, node %s: %s\n", op_,
                              Printable(name == nullptr ? "" : name).c_str(), Printable(message).c_str());
        return false;
      },
      [&](const char*) {
        context_->ReportError(context_, "litefuse kernel %s: no memory\n", op_);
        return false;
      });
  return false;
}

namespace internal {

void FreeState(void* state) { delete static_cast<State*>(state); }

namespace {

// Calls a function of a kernel; what it throws is a failure.
template <typename Function>
TfLiteStatus Call(Node& node, Function function) {
  return Guarded(function, [&](const char* what) { return node.Fail("%s", what); }) ? kTfLiteOk : kTfLiteError;
}

}  // namespace

TfLiteStatus Prepare(const char* op, TfLiteContext* context, TfLiteNode* node) {
  Node call(op, context, node);
  return Call(call, [&] {
    auto* state = static_cast<State*>(node->user_data);
    if (state == nullptr) return call.Fail("not enough memory for the kernel");
    if (!call.CheckOutputs()) return false;
    if (!state->configured) {
      if (!state->kernel->Configure(call, state->options)) return false;
      state->configured = true;
    }
    return state->kernel->Prepare(call);
  });
}

TfLiteStatus Invoke(const char* op, TfLiteContext* context, TfLiteNode* node) {
  Node call(op, context, node);
  return Call(call, [&] { return static_cast<State*>(node->user_data)->kernel->Invoke(call); });
}

}  // namespace internal
}  // namespace litefuse
