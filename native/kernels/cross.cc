// Cross: the cross product of vectors.
//
// a and b [..., 3] of the same type of real numbers -> the same; integers wrap around. Definition: the op's
// documentation in TensorFlow (tf.raw_ops.Cross).

#include "litefuse/kernel.h"
#include "real_types.h"

namespace {

using litefuse::Node;
using litefuse::Tensor;

class Cross : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor a = node.input(0), b = node.input(1);
    if (!litefuse::CheckReal(node, "a", a) || !node.CheckType("b", b, {a.type()}) ||
        !litefuse::CheckOutputType(node, 0, a.type())) {
      return false;
    }
    LITEFUSE_REQUIRE(node, a.shape() == b.shape(), "a and b must be alike, not %s and %s",
                     litefuse::Text(a.shape()).c_str(), litefuse::Text(b.shape()).c_str());
    LITEFUSE_REQUIRE(node, a.rank() > 0 && a.dim(a.rank() - 1) == 3,
                     "a and b must be vectors of three elements [..., 3], not %s", litefuse::Text(a.shape()).c_str());
    return node.Resize(0, a.shape());
  }

  bool Invoke(Node& node) override {
    return litefuse::VisitReals(node.input(0).type(),
                                [&](auto type) { return Multiply<typename decltype(type)::type>(node); });
  }

 private:
  template <typename T>
  static bool Multiply(Node& node) {
    using A = typename litefuse::Arithmetic<T>::type;
    const T* a = node.input(0).data<T>();
    const T* b = node.input(1).data<T>();
    T* to = node.output(0).mutable_data<T>();
    const int64_t count = node.output(0).size() / 3;
    const auto product = [](T x, T y) {
      return static_cast<A>(static_cast<T>(static_cast<A>(x) * static_cast<A>(y)));
    };
    for (int64_t i = 0; i < count; ++i, a += 3, b += 3, to += 3) {
      to[0] = static_cast<T>(product(a[1], b[2]) - product(a[2], b[1]));
      to[1] = static_cast<T>(product(a[2], b[0]) - product(a[0], b[2]));
      to[2] = static_cast<T>(product(a[0], b[1]) - product(a[1], b[0]));
    }
    return true;
  }
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(Cross, Cross)
