// How a kernel is written: a class with Configure, Prepare and Invoke, registered with LITEFUSE_DEFINE_KERNEL.
//
// A function that fails says why and returns false; no run-time type information is needed. What is thrown all the same,
// such as std::bad_alloc, becomes such a failure where the kernel is compiled with exceptions.
#ifndef LITEFUSE_KERNEL_H_
#define LITEFUSE_KERNEL_H_

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "litefuse/guarded.h"
#include "litefuse/half.h"
#include "litefuse/options.h"
#include "litefuse/tflite.h"

namespace litefuse {

using Shape = std::vector<int>;

// How many elements a tensor of this shape has, none of whose sizes is negative; the largest int64_t if there are more.
int64_t NumElements(const Shape& shape);

// Multiplies counts or sizes, none of them negative; false if the product is no int64_t. Whatever is computed from the
// sizes that a model names, and is not the size of a tensor that is there, goes through it.
bool Multiply(std::initializer_list<int64_t> factors, int64_t* product);

// The number of bytes of an element; 0 for strings and types smaller than a byte.
size_t ElementSize(TfLiteType type);

// The name of a type, such as "float32".
const char* TypeName(TfLiteType type);

// Numbers as text for messages, such as "[1, 2]".
std::string Text(const std::vector<int>& values);

// How real numbers became the integers of a tensor: real = scale * (integer - zero_point). There is one scale, or one for
// each slice along an axis, as weights have them. Taken anew from the tensor in each function of a kernel: it reads the
// runtime's memory.
class Quantization {
 public:
  Quantization() = default;  // of a tensor whose numbers stand for themselves
  Quantization(const float* scales, int count, const int32_t* zero_points, int zero_point_count, int axis)
      : scales_(scales), zero_points_(zero_points), count_(count), zero_point_count_(zero_point_count), axis_(axis) {}

  // Whether the tensor is quantized: every scale is then positive and finite.
  explicit operator bool() const { return count_ > 0; }
  int count() const { return count_; }
  int axis() const { return axis_; }  // 0 if there is one scale

  // Of a slice; where there is no such slice, those of the first, which are those of all if there is one scale.
  float scale(int slice = 0) const { return count_ == 0 ? 1.0f : scales_[slice >= 0 && slice < count_ ? slice : 0]; }
  int32_t zero_point(int slice = 0) const {
    return count_ == 0 ? 0 : zero_points_[slice >= 0 && slice < zero_point_count_ ? slice : 0];
  }

  // The real number that an integer stands for.
  template <typename T>
  float Dequantize(T integer, int slice = 0) const {
    return (static_cast<float>(integer) - static_cast<float>(zero_point(slice))) * scale(slice);
  }

  // The nearest integer, halves to even; what is beyond the range of T becomes its limit, a NaN the zero point.
  template <typename T>
  T Quantize(float real, int slice = 0) const {
    static_assert(std::is_integral_v<T>, "numbers are quantized to integers");
    const double steps = std::nearbyint(real / scale(slice));
    const double integer = (std::isnan(steps) ? 0 : steps) + zero_point(slice);
    if (integer <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (integer >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
    return static_cast<T>(integer);
  }

  // Whether both are of one scale, and it is the same with the same zero point; or both are of none.
  bool IsSameScale(const Quantization& other) const {
    if (count_ == 0 || other.count_ == 0) return count_ == other.count_;
    return count_ == 1 && other.count_ == 1 && scale() == other.scale() && zero_point() == other.zero_point();
  }

 private:
  const float* scales_ = nullptr;
  const int32_t* zero_points_ = nullptr;
  int count_ = 0;
  int zero_point_count_ = 0;
  int axis_ = 0;
};

// A tensor, as a kernel sees it.
class Tensor {
 public:
  explicit Tensor(TfLiteTensor* tensor) : tensor_(tensor) {}

  TfLiteType type() const { return tensor_->type; }
  int rank() const { return tensor_->dims == nullptr ? 0 : tensor_->dims->size; }
  int dim(int axis) const { return tensor_->dims->data[axis]; }
  Shape shape() const;
  int64_t size() const;  // the number of elements
  // Whether the value is known in Prepare.
  bool is_constant() const;

  template <typename T>
  const T* data() const {
    return static_cast<const T*>(static_cast<const void*>(tensor_->data.raw));
  }
  template <typename T>
  T* mutable_data() const {
    return static_cast<T*>(static_cast<void*>(tensor_->data.raw));
  }
  // The value of a tensor of int32 or int64.
  std::vector<int64_t> integers() const;
  // How its integers came about. None of numbers that stand for themselves, of floating point, of scales in blocks, and
  // of parameters that hold no sense: with a scale that is not positive and finite, say.
  Quantization quantization() const;

  TfLiteTensor* get() const { return tensor_; }

 private:
  TfLiteTensor* tensor_;
};

// One node while its kernel is being prepared or invoked.
class Node {
 public:
  Node(const char* op, TfLiteContext* context, const TfLiteNode* node) : op_(op), context_(context), node_(node) {}

  int inputs() const { return node_->inputs->size; }
  int outputs() const { return node_->outputs->size; }
  // Whether an input is there: an optional one may be absent.
  bool has_input(int index) const;
  Tensor input(int index) const { return Tensor(&context_->tensors[node_->inputs->data[index]]); }
  Tensor output(int index) const { return Tensor(&context_->tensors[node_->outputs->data[index]]); }

  // Gives an output its shape: in Prepare, or in Invoke when it was made dynamic. Fails where a size is negative, and
  // where there is no memory for so many elements.
  bool Resize(int output, const Shape& shape);
  // In Prepare: the shape of the output depends on values, and Invoke gives it.
  void MakeDynamic(int output);
  bool IsDynamic(int output) const { return this->output(output).get()->allocation_type == kTfLiteDynamic; }

  // Whether the outputs may be written: each is there, is no constant, and is neither an input nor another output.
  // Checked before Prepare.
  bool CheckOutputs();
  // In Prepare: how many inputs and outputs the op has.
  bool CheckCounts(int inputs, int outputs);
  // Whether an input or output has one of the types.
  bool CheckType(const char* name, const Tensor& tensor, std::initializer_list<TfLiteType> types);
  bool CheckRank(const char* name, const Tensor& tensor, int rank);
  // In Prepare, of an op that hands numbers on: whether an output has the scale and the zero point of an input, one for
  // the whole tensor; or neither has any.
  bool CheckSameScale(int input, int output);

  // How many threads a kernel may use.
  int threads() const { return context_->recommended_num_threads > 0 ? context_->recommended_num_threads : 1; }

  // Reports an error to the runtime, with the op and the node; returns false.
  bool Fail(const char* format, ...)
#if defined(__GNUC__)
      __attribute__((format(printf, 2, 3)))
#endif
      ;

 private:
  const char* op_;
  TfLiteContext* context_;
  const TfLiteNode* node_;
};

// Leaves a function of a kernel with an error unless the condition holds; what follows is a printf format.
#define LITEFUSE_REQUIRE(node, condition, ...)            \
  do {                                                    \
    if (!(condition)) return (node).Fail(__VA_ARGS__);    \
  } while (false)

// The base class of kernels. There is one object for each node that the op stands at.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // Reads the options; called once, before Prepare.
  virtual bool Configure(Node& node, const Options& options) {
    (void)node;
    (void)options;
    return true;
  }
  // Checks the inputs and gives the outputs their shapes; called again when an input was resized.
  virtual bool Prepare(Node& node) = 0;
  // Computes the outputs.
  virtual bool Invoke(Node& node) = 0;
};

namespace internal {

// What the runtime holds for a node.
struct State {
  std::unique_ptr<Kernel> kernel;
  Options options;
  bool configured;
};

// Makes what the runtime holds for a node, with a kernel of the class; null if there is no memory.
template <typename Class>
void* NewState(const char* buffer, size_t length) {
  return Guarded([&]() -> void* { return new State{std::make_unique<Class>(), Options(buffer, length), false}; },
                 [](const char*) -> void* { return nullptr; });
}
void FreeState(void* state);
TfLiteStatus Prepare(const char* op, TfLiteContext* context, TfLiteNode* node);
TfLiteStatus Invoke(const char* op, TfLiteContext* context, TfLiteNode* node);

}  // namespace internal

// Defines litefuse_register_<name>(), the registration of the kernel `Class` for the op `name`.
#define LITEFUSE_DEFINE_KERNEL(name, Class) \
  extern "C" LITEFUSE_DEFINE_KERNEL_AS(litefuse_register_##name, #name, Class)

// Defines a function that returns the registration of the kernel `Class` for an op whose name is `text`.
#define LITEFUSE_DEFINE_KERNEL_AS(function, text, Class)                                                          \
  const TfLiteRegistration* function(void) {                                                                      \
    static const TfLiteRegistration registration = [] {                                                            \
      TfLiteRegistration made{};                                                                                   \
      made.init = [](TfLiteContext*, const char* buffer, size_t length) -> void* {                                 \
        return litefuse::internal::NewState<Class>(buffer, length);                                                \
      };                                                                                                           \
      made.free = [](TfLiteContext*, void* state) { litefuse::internal::FreeState(state); };                       \
      made.prepare = [](TfLiteContext* context, TfLiteNode* node) {                                                \
        return litefuse::internal::Prepare(text, context, node);                                                   \
      };                                                                                                           \
      made.invoke = [](TfLiteContext* context, TfLiteNode* node) {                                                 \
        return litefuse::internal::Invoke(text, context, node);                                                    \
      };                                                                                                           \
      made.builtin_code = kTfLiteBuiltinCustom;                                                                    \
      made.custom_name = text;                                                                                     \
      made.version = 1;                                                                                            \
      return made;                                                                                                 \
    }();                                                                                                           \
    return &registration;                                                                                          \
  }

}  // namespace litefuse

#endif  // LITEFUSE_KERNEL_H_
