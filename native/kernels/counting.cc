// Bincount and DenseBincount: how often each number occurs.
//
// Bincount: arr of int32, size [] of int32, weights -> [size]. DenseBincount: input [], [n] or [rows, n] of int32 or
// int64, size [] of the same type, weights -> [size] or [rows, size]; option binary_output. The weights are int32,
// int64, float32 or float64, one for each number or none, for ones. Definition: the ops' documentation in TensorFlow
// (tf.raw_ops.Bincount, tf.raw_ops.DenseBincount).

#include <algorithm>

#include "litefuse/kernel.h"
#include "numbers.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Shape;
using litefuse::Tensor;

class Counting : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(3, 1)) return false;
    const Tensor values = node.input(0), size = node.input(1), weights = node.input(2);
    if (!CheckValues(node, values, weights)) return false;
    LITEFUSE_REQUIRE(node, size.type() == values.type() && size.rank() == 0, "size must be a scalar of %s, not %s %s",
                     litefuse::TypeName(values.type()), litefuse::TypeName(size.type()),
                     litefuse::Text(size.shape()).c_str());
    if (!node.CheckType("weights", weights, {kTfLiteInt32, kTfLiteInt64, kTfLiteFloat32, kTfLiteFloat64}) ||
        !node.CheckType("the output", node.output(0), {weights.type()})) {
      return false;
    }
    if (!size.is_constant()) {
      node.MakeDynamic(0);
      return true;
    }
    return ResizeOutput(node);
  }

  bool Invoke(Node& node) override {
    if (node.IsDynamic(0) && !ResizeOutput(node)) return false;
    return node.input(0).type() == kTfLiteInt64 ? Count<int64_t>(node) : Count<int32_t>(node);
  }

 protected:
  virtual bool CheckValues(Node& node, const Tensor& values, const Tensor& weights) = 0;

  bool by_rows_ = false;  // whether a matrix is counted row by row
  bool binary_ = false;   // whether it is counted only if a number occurs

 private:
  bool HasRows(const Tensor& values) const { return by_rows_ && values.rank() == 2; }

  bool ResizeOutput(Node& node) {
    const int64_t size = node.input(1).integers()[0];
    LITEFUSE_REQUIRE(node, size >= 0 && size <= INT32_MAX, "size must not be negative or above 2147483647, as %lld is",
                     static_cast<long long>(size));
    const Tensor values = node.input(0);
    Shape shape = {static_cast<int>(size)};
    if (HasRows(values)) shape.insert(shape.begin(), values.dim(0));
    return node.Resize(0, shape);
  }

  template <typename V>
  bool Count(Node& node) {
    switch (node.input(2).type()) {
      case kTfLiteInt32: return Count<V, int32_t>(node);
      case kTfLiteInt64: return Count<V, int64_t>(node);
      case kTfLiteFloat32: return Count<V, float>(node);
      default: return Count<V, double>(node);
    }
  }

  template <typename V, typename W>
  bool Count(Node& node) {
    using A = typename litefuse::Arithmetic<W>::type;
    const Tensor values = node.input(0), weights = node.input(2), output = node.output(0);
    const int64_t size = output.dim(output.rank() - 1), rows = HasRows(values) ? values.dim(0) : 1;
    const int64_t columns = rows == 0 ? 0 : values.size() / rows;
    const bool weighted = weights.size() > 0;
    const V* value = values.data<V>();
    const W* weight = weights.data<W>();
    W* counts = output.mutable_data<W>();
    if (output.size() > 0) std::fill_n(counts, output.size(), W(0));
    for (int64_t row = 0; row < rows; ++row, counts += size) {
      for (int64_t col = 0; col < columns; ++col, ++value) {
        LITEFUSE_REQUIRE(node, *value >= 0, "the numbers must not be negative, as %lld is",
                         static_cast<long long>(*value));
        const W of_value = weighted ? *weight++ : W(1);
        if (*value >= size) continue;
        W& count = counts[*value];
        count = binary_ ? W(1) : static_cast<W>(static_cast<A>(count) + static_cast<A>(of_value));
      }
    }
    return true;
  }
};

class Bincount : public Counting {
  bool CheckValues(Node& node, const Tensor& values, const Tensor& weights) override {
    if (!node.CheckType("arr", values, {kTfLiteInt32})) return false;
    LITEFUSE_REQUIRE(node, weights.size() == 0 || weights.size() == values.size(),
                     "weights must be one for each element of arr %s or none, not %s",
                     litefuse::Text(values.shape()).c_str(), litefuse::Text(weights.shape()).c_str());
    return true;
  }
};

class DenseBincount : public Counting {
 public:
  bool Configure(Node&, const Options& options) override {
    by_rows_ = true;
    options.Get("binary_output", &binary_);
    return true;
  }

 private:
  bool CheckValues(Node& node, const Tensor& values, const Tensor& weights) override {
    if (!node.CheckType("input", values, {kTfLiteInt32, kTfLiteInt64})) return false;
    LITEFUSE_REQUIRE(node, values.rank() <= 2, "input must be of rank 0 to 2, not %s",
                     litefuse::Text(values.shape()).c_str());
    LITEFUSE_REQUIRE(node, weights.size() == 0 || weights.shape() == values.shape(),
                     "weights must be of the shape of input %s or empty, not %s",
                     litefuse::Text(values.shape()).c_str(), litefuse::Text(weights.shape()).c_str());
    return true;
  }
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(Bincount, Bincount)
LITEFUSE_DEFINE_KERNEL(DenseBincount, DenseBincount)
