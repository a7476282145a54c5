// Cumprod: cumulative products.
//
// x of any type of numbers, axis [] of int32 or int64 -> the same as x; integers wrap around. Options: exclusive,
// reverse. Definition: the op's documentation in TensorFlow (tf.raw_ops.Cumprod).

#include "litefuse/kernel.h"
#include "real_types.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;

class Cumprod : public litefuse::Kernel {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("exclusive", &exclusive_);
    options.Get("reverse", &reverse_);
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor x = node.input(0), axis = node.input(1);
    const bool is_complex = x.type() == kTfLiteComplex64 || x.type() == kTfLiteComplex128;
    if ((!is_complex && !litefuse::CheckReal(node, "x", x)) || !litefuse::CheckOutputType(node, 0, x.type()) ||
        !node.CheckType("axis", axis, {kTfLiteInt32, kTfLiteInt64})) {
      return false;
    }
    LITEFUSE_REQUIRE(node, axis.rank() == 0, "axis must be a scalar, not %s", litefuse::Text(axis.shape()).c_str());
    return node.Resize(0, x.shape());
  }

  bool Invoke(Node& node) override {
    const Tensor x = node.input(0);
    const int64_t axis = node.input(1).integers()[0], rank = x.rank();
    LITEFUSE_REQUIRE(node, axis >= -rank && axis < rank, "axis must be from %d to %d for x of rank %d, not %lld",
                     -x.rank(), x.rank() - 1, x.rank(), static_cast<long long>(axis));
    const auto multiply = [&](auto type) {
      return Multiply<typename decltype(type)::type>(node, static_cast<int>(axis < 0 ? axis + rank : axis));
    };
    return litefuse::VisitReals(x.type(), multiply) || litefuse::VisitComplex(x.type(), multiply);
  }

 private:
  template <typename T>
  bool Multiply(Node& node, int axis) {
    using A = typename litefuse::Arithmetic<T>::type;
    const Tensor x = node.input(0);
    if (x.size() == 0) return true;
    const int64_t size = x.dim(axis);
    int64_t stride = 1;
    for (int inner = axis + 1; inner < x.rank(); ++inner) stride *= x.dim(inner);
    const int64_t outer = x.size() / (size * stride);
    for (int64_t block = 0; block < outer; ++block) {
      const T* from = x.data<T>() + block * size * stride;
      T* to = node.output(0).mutable_data<T>() + block * size * stride;
      for (int64_t step = 0; step < size; ++step) {
        const int64_t at = (reverse_ ? size - 1 - step : step) * stride;
        const int64_t before = at + (reverse_ ? stride : -stride);
        const int64_t factor = exclusive_ ? before : at;
        for (int64_t i = 0; i < stride; ++i) {
          if (step == 0) {
            to[at + i] = exclusive_ ? static_cast<T>(A(1)) : from[at + i];
          } else {
            to[at + i] = static_cast<T>(static_cast<A>(to[before + i]) * static_cast<A>(from[factor + i]));
          }
        }
      }
    }
    return true;
  }

  bool exclusive_ = false, reverse_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(Cumprod, Cumprod)
