// StringJoin and ReduceJoin: several strings in one.
//
// Definitions: the ops' documentation in TensorFlow (tf.strings.join, tf.strings.reduce_join).

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Shape;
using litefuse::Tensor;

class StringJoin : public litefuse::Kernel {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("separator", &separator_);
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(node.inputs(), 1) || !node.CheckType("the output", node.output(0), {kTfLiteString})) {
      return false;
    }
    Shape shape;
    for (int i = 0; i < node.inputs(); ++i) {
      const Shape own = node.input(i).shape();
      if (!node.CheckType("an input", node.input(i), {kTfLiteString})) return false;
      LITEFUSE_REQUIRE(node, own.empty() || shape.empty() || own == shape,
                       "inputs must be of one shape or scalars, not %s and %s", litefuse::Text(shape).c_str(),
                       litefuse::Text(own).c_str());
      if (!own.empty()) shape = own;
    }
    shape_ = shape;
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    std::vector<std::string> joined(static_cast<size_t>(litefuse::NumElements(shape_)));
    std::vector<std::string_view> strings;
    for (int input = 0; input < node.inputs(); ++input) {
      if (!litefuse::ReadStrings(node, "an input", node.input(input), &strings)) return false;
      const bool scalar = node.input(input).rank() == 0;
      for (size_t i = 0; i < joined.size(); ++i) {
        if (input > 0) joined[i] += separator_;
        joined[i] += strings[scalar ? 0 : i];
      }
    }
    return litefuse::WriteStrings(node, 0, shape_, joined);
  }

 private:
  std::string separator_;
  Shape shape_;
};

class ReduceJoin : public litefuse::Kernel {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("separator", &separator_);
    options.Get("keep_dims", &keep_dims_);
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1) || !node.CheckType("inputs", node.input(0), {kTfLiteString}) ||
        !node.CheckType("reduction_indices", node.input(1), {kTfLiteInt32}) ||
        !node.CheckType("the output", node.output(0), {kTfLiteString})) {
      return false;
    }
    LITEFUSE_REQUIRE(node, node.input(1).rank() <= 1, "reduction_indices must be a scalar or a vector");
    if (!node.input(1).is_constant()) {
      node.MakeDynamic(0);
      return true;
    }
    std::vector<int> axes;
    return ReadAxes(node, &axes) && node.Resize(0, Left(node.input(0).shape(), axes));
  }

  bool Invoke(Node& node) override {
    const Shape shape = node.input(0).shape();
    std::vector<int> axes;
    std::vector<std::string_view> strings;
    if (!ReadAxes(node, &axes) || !litefuse::ReadStrings(node, "inputs", node.input(0), &strings)) return false;
    std::vector<size_t> steps(shape.size(), 1);
    for (size_t axis = shape.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * static_cast<size_t>(shape[axis]);
    // The dimensions that stay, then those that are joined, of which the first runs fastest.
    std::vector<int> rest;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) rest.push_back(axis);
    }
    const std::vector<size_t> begins = Places(shape, steps, rest);
    const std::vector<size_t> parts = Places(shape, steps, std::vector<int>(axes.rbegin(), axes.rend()));
    std::vector<std::string> joined(begins.size());
    for (size_t i = 0; i < begins.size(); ++i) {
      for (size_t j = 0; j < parts.size(); ++j) {
        if (j > 0) joined[i] += separator_;
        joined[i] += strings[begins[i] + parts[j]];
      }
    }
    return litefuse::WriteStrings(node, 0, Left(shape, axes), joined);
  }

 private:
  // Counted from the front.
  static bool ReadAxes(Node& node, std::vector<int>* axes) {
    const int rank = node.input(0).rank();
    for (const int64_t axis : node.input(1).integers()) {
      LITEFUSE_REQUIRE(node, axis >= -rank && axis < rank, "reduction_indices must be from %d to %d, not %lld", -rank,
                       rank - 1, static_cast<long long>(axis));
      const int positive = static_cast<int>(axis < 0 ? axis + rank : axis);
      LITEFUSE_REQUIRE(node, std::find(axes->begin(), axes->end(), positive) == axes->end(),
                       "reduction_indices must not be given twice");
      axes->push_back(positive);
    }
    return true;
  }

  Shape Left(const Shape& shape, const std::vector<int>& axes) const {
    Shape left;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      const bool joined = std::find(axes.begin(), axes.end(), axis) != axes.end();
      if (keep_dims_ || !joined) left.push_back(joined ? 1 : shape[static_cast<size_t>(axis)]);
    }
    return left;
  }

  // Where the elements along some dimensions stand, the last one running fastest.
  static std::vector<size_t> Places(const Shape& shape, const std::vector<size_t>& steps, const std::vector<int>& axes) {
    std::vector<size_t> places{0};
    for (const int axis : axes) {
      std::vector<size_t> next;
      for (const size_t place : places) {
        for (int i = 0; i < shape[static_cast<size_t>(axis)]; ++i) {
          next.push_back(place + static_cast<size_t>(i) * steps[static_cast<size_t>(axis)]);
        }
      }
      places = std::move(next);
    }
    return places;
  }

  std::string separator_;
  bool keep_dims_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(ReduceJoin, ReduceJoin)
LITEFUSE_DEFINE_KERNEL(StringJoin, StringJoin)
