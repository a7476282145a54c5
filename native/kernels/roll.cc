// Roll: elements shifted along dimensions, around the ends.
//
// input of any type with elements of whole bytes, or strings, rank 1 or more; shift and axis, int32 or int64, both
// [] or both [n] -> the same as input. Definition: the op's documentation in TensorFlow (tf.raw_ops.Roll).

#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"

namespace {

using litefuse::Node;
using litefuse::Shape;
using litefuse::Tensor;

// Copies an array, shifted by `shifts`, of which each is at least 0 and below the size.
void RollBytes(const char* from, const Shape& shape, const std::vector<int64_t>& shifts, size_t item, char* to) {
  if (litefuse::NumElements(shape) == 0) return;
  // Each row ends with the last dimension that is shifted and what is in it: two runs of bytes.
  size_t inner = shape.size() - 1;
  while (inner > 0 && shifts[inner] == 0) --inner;
  size_t element = item;
  for (size_t axis = inner + 1; axis < shape.size(); ++axis) element *= static_cast<size_t>(shape[axis]);
  const size_t row = element * static_cast<size_t>(shape[inner]);
  const size_t head = element * static_cast<size_t>(shifts[inner]);
  int64_t rows = 1;
  for (size_t axis = 0; axis < inner; ++axis) rows *= shape[axis];
  for (int64_t index = 0; index < rows; ++index, from += row) {
    int64_t rest = index, stride = 1, target = 0;
    for (size_t axis = inner; axis-- > 0; rest /= shape[axis], stride *= shape[axis]) {
      target += (rest % shape[axis] + shifts[axis]) % shape[axis] * stride;
    }
    char* place = to + static_cast<size_t>(target) * row;
    std::memcpy(place + head, from, row - head);
    std::memcpy(place, from + (row - head), head);
  }
}

class Roll : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(3, 1)) return false;
    const Tensor input = node.input(0), shift = node.input(1), axis = node.input(2);
    LITEFUSE_REQUIRE(node, input.rank() > 0, "input must be of rank 1 or more");
    const bool strings = input.type() == kTfLiteString;
    item_ = strings ? sizeof(int32_t) : litefuse::ElementSize(input.type());
    LITEFUSE_REQUIRE(node, item_ > 0, "input is of %s", litefuse::TypeName(input.type()));
    if (!node.CheckType("the output", node.output(0), {input.type()}) ||
        !node.CheckType("shift", shift, {kTfLiteInt32, kTfLiteInt64}) ||
        !node.CheckType("axis", axis, {kTfLiteInt32, kTfLiteInt64})) {
      return false;
    }
    LITEFUSE_REQUIRE(node, shift.rank() <= 1 && axis.rank() <= 1, "shift and axis must be [] or [n], not %s and %s",
                     litefuse::Text(shift.shape()).c_str(), litefuse::Text(axis.shape()).c_str());
    LITEFUSE_REQUIRE(node, shift.shape() == axis.shape(), "shift and axis must have the same shape, not %s and %s",
                     litefuse::Text(shift.shape()).c_str(), litefuse::Text(axis.shape()).c_str());
    if (!node.CheckSameScale(0, 0)) return false;
    if (strings) {
      node.MakeDynamic(0);
      return true;
    }
    return node.Resize(0, input.shape());
  }

  bool Invoke(Node& node) override {
    const Tensor input = node.input(0);
    const std::vector<int64_t> shift = node.input(1).integers(), axes = node.input(2).integers();
    std::vector<int64_t> shifts(static_cast<size_t>(input.rank()), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      LITEFUSE_REQUIRE(node, axes[i] >= -input.rank() && axes[i] < input.rank(),
                       "axis must be from %d to %d for this input, not %lld", -input.rank(), input.rank() - 1,
                       static_cast<long long>(axes[i]));
      const int64_t axis = axes[i] < 0 ? axes[i] + input.rank() : axes[i];
      const int64_t size = input.dim(static_cast<int>(axis));
      if (size == 0) continue;
      int64_t& sum = shifts[static_cast<size_t>(axis)];
      sum = (sum + shift[i] % size + size) % size;
    }
    if (input.type() == kTfLiteString) {
      std::vector<std::string_view> strings;
      if (!litefuse::ReadStrings(node, "input", input, &strings)) return false;
      std::vector<int32_t> order(strings.size()), rolled(order.size());
      std::iota(order.begin(), order.end(), 0);
      RollBytes(reinterpret_cast<const char*>(order.data()), input.shape(), shifts, item_,
                reinterpret_cast<char*>(rolled.data()));
      std::vector<std::string_view> moved;
      for (const int32_t index : rolled) moved.push_back(strings[static_cast<size_t>(index)]);
      return litefuse::WriteStrings(node, 0, input.shape(), moved);
    }
    RollBytes(input.data<char>(), input.shape(), shifts, item_, node.output(0).mutable_data<char>());
    return true;
  }

 private:
  size_t item_ = 0;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(Roll, Roll)
