// Erf: the error function.
//
// x of float16, bfloat16, float32 or float64 -> the same. Definition: the op's documentation in TensorFlow
// (tf.raw_ops.Erf).

#include <cmath>

#include "litefuse/kernel.h"
#include "numbers.h"

namespace {

using litefuse::Node;
using litefuse::Tensor;

class Erf : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    return node.CheckCounts(1, 1) &&
           node.CheckType("x", node.input(0), {kTfLiteFloat16, kTfLiteBFloat16, kTfLiteFloat32, kTfLiteFloat64}) &&
           node.CheckType("the output", node.output(0), {node.input(0).type()}) &&
           node.Resize(0, node.input(0).shape());
  }

  bool Invoke(Node& node) override {
    return litefuse::VisitFloats(node.input(0).type(), [&](auto type) {
      using T = typename decltype(type)::type;
      using A = typename litefuse::Arithmetic<T>::type;
      const T* x = node.input(0).data<T>();
      T* to = node.output(0).mutable_data<T>();
      const int64_t size = node.input(0).size();
      for (int64_t i = 0; i < size; ++i) to[i] = static_cast<T>(std::erf(static_cast<A>(x[i])));
      return true;
    });
  }
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(Erf, Erf)
