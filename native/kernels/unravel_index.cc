// UnravelIndex: flat indices as coordinates.
//
// indices [] or [n] and dims [rank] of int32 or int64 -> [rank] or [rank, n] of the same type. Definition: the op's
// documentation in TensorFlow (tf.raw_ops.UnravelIndex).

#include <limits>
#include <vector>

#include "litefuse/kernel.h"

namespace {

using litefuse::Node;
using litefuse::Shape;
using litefuse::Tensor;

class UnravelIndex : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor indices = node.input(0), dims = node.input(1);
    if (!node.CheckType("indices", indices, {kTfLiteInt32, kTfLiteInt64}) ||
        !node.CheckType("dims", dims, {indices.type()}) || !node.CheckRank("dims", dims, 1) ||
        !node.CheckType("the output", node.output(0), {indices.type()})) {
      return false;
    }
    LITEFUSE_REQUIRE(node, indices.rank() <= 1, "indices must be [] or [n], not %s",
                     litefuse::Text(indices.shape()).c_str());
    Shape shape = indices.shape();
    shape.insert(shape.begin(), dims.dim(0));
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    return node.input(0).type() == kTfLiteInt64 ? Divide<int64_t>(node) : Divide<int32_t>(node);
  }

 private:
  template <typename T>
  static bool Divide(Node& node) {
    const T* indices = node.input(0).data<T>();
    const T* dims = node.input(1).data<T>();
    const int64_t count = node.input(0).size(), rank = node.input(1).dim(0);
    T* to = node.output(0).mutable_data<T>();
    T total = 1;
    for (int64_t axis = 0; axis < rank; ++axis) {
      LITEFUSE_REQUIRE(node, dims[axis] > 0, "dims must be positive, not %lld", static_cast<long long>(dims[axis]));
      LITEFUSE_REQUIRE(node, dims[axis] <= std::numeric_limits<T>::max() / total,
                       "dims have a product that is too large for %s", litefuse::TypeName(node.input(1).type()));
      total *= dims[axis];
    }
    for (int64_t i = 0; i < count; ++i) {
      LITEFUSE_REQUIRE(node, indices[i] >= 0 && indices[i] < total, "indices must be from 0 to %lld, not %lld",
                       static_cast<long long>(total - 1), static_cast<long long>(indices[i]));
      T rest = indices[i];
      for (int64_t axis = rank - 1; axis >= 0; --axis) {
        to[axis * count + i] = rest % dims[axis];
        rest /= dims[axis];
      }
    }
    return true;
  }
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(UnravelIndex, UnravelIndex)
