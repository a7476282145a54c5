// LinSpace: evenly spaced numbers.
//
// start and stop [] of the same floating point type, num [] of int32 or int64 -> [num] of that type. Definition: the
// op's documentation in TensorFlow (tf.raw_ops.LinSpace).

#include "litefuse/kernel.h"
#include "numbers.h"

namespace {

using litefuse::Node;
using litefuse::Tensor;

class LinSpace : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(3, 1)) return false;
    const Tensor start = node.input(0), stop = node.input(1), num = node.input(2);
    if (!node.CheckType("start", start, {kTfLiteFloat16, kTfLiteBFloat16, kTfLiteFloat32, kTfLiteFloat64}) ||
        !node.CheckType("stop", stop, {start.type()}) ||
        !node.CheckType("the output", node.output(0), {start.type()}) ||
        !node.CheckType("num", num, {kTfLiteInt32, kTfLiteInt64})) {
      return false;
    }
    LITEFUSE_REQUIRE(node, start.rank() == 0, "start must be a scalar, not %s", litefuse::Text(start.shape()).c_str());
    LITEFUSE_REQUIRE(node, stop.rank() == 0, "stop must be a scalar, not %s", litefuse::Text(stop.shape()).c_str());
    LITEFUSE_REQUIRE(node, num.rank() == 0, "num must be a scalar, not %s", litefuse::Text(num.shape()).c_str());
    if (!num.is_constant()) {
      node.MakeDynamic(0);
      return true;
    }
    return ResizeOutput(node);
  }

  bool Invoke(Node& node) override {
    if (node.IsDynamic(0) && !ResizeOutput(node)) return false;
    return litefuse::VisitFloats(node.input(0).type(), [&](auto type) {
      using T = typename decltype(type)::type;
      using A = typename litefuse::Arithmetic<T>::type;
      // Every result is one of T.
      const auto rounded = [](A value) { return static_cast<A>(static_cast<T>(value)); };
      const A start = static_cast<A>(*node.input(0).data<T>()), stop = static_cast<A>(*node.input(1).data<T>());
      const int64_t last = node.output(0).dim(0) - 1;
      const A steps = rounded(static_cast<A>(last > 0 ? last : 1));
      const A step = rounded(rounded(stop - start) / steps);
      T* to = node.output(0).mutable_data<T>();
      for (int64_t i = 1; i < last; ++i) {
        to[i] = static_cast<T>(start + rounded(step * rounded(static_cast<A>(i))));
      }
      to[last] = static_cast<T>(stop);
      to[0] = static_cast<T>(start);
      return true;
    });
  }

 private:
  static bool ResizeOutput(Node& node) {
    const int64_t num = node.input(2).integers()[0];
    LITEFUSE_REQUIRE(node, num > 0 && num <= INT32_MAX, "num must be positive and not above 2147483647, not %lld",
                     static_cast<long long>(num));
    return node.Resize(0, {static_cast<int>(num)});
  }
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(LinSpace, LinSpace)
