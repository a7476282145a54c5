// MaxUnpooling2D: values put back to where maximum pooling took them from.
//
// updates [batch, rows, cols, depth] of any real type, mask (the same shape, int32 or int64: positions in one output
// image) -> [batch, out_rows, out_cols, depth], values at the same place added. Options: pool_size, strides (each
// [rows, cols]) and padding (SAME, VALID); or the C struct TfLitePoolParams, as TFLiteConverter writes it.
// Definition: the documentation of TensorFlow Addons (tfa.layers.MaxUnpooling2D).

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "litefuse/kernel.h"
#include "real_types.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;

// Integers wrap around.
template <typename T>
T Sum(T a, T b) {
  using A = typename litefuse::Arithmetic<T>::type;
  return static_cast<T>(static_cast<A>(a) + static_cast<A>(b));
}

class MaxUnpooling2D : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    std::string padding;
    // A flexbuffer ends with the width of its root, which is not 0.
    const std::vector<uint8_t>& bytes = options.bytes();
    if (bytes.size() == 40 && bytes.back() == 0) {
      int32_t fields[5];  // padding, strides of columns and rows, pool size of columns and rows
      std::memcpy(fields, bytes.data(), sizeof(fields));
      padding = fields[0] == 1 ? "SAME" : fields[0] == 2 ? "VALID" : "number " + std::to_string(fields[0]);
      strides_ = {fields[2], fields[1]};
      pool_size_ = {fields[4], fields[3]};
    } else {
      LITEFUSE_REQUIRE(node, options.Get("pool_size", &pool_size_) && options.Get("strides", &strides_),
                       "there are no options pool_size and strides that are lists of integers");
      options.Get("padding", &padding);
    }
    LITEFUSE_REQUIRE(node, pool_size_.size() == 2 && pool_size_[0] > 0 && pool_size_[1] > 0,
                     "pool_size must be [rows, cols] with positive numbers, not %s", litefuse::Text(pool_size_).c_str());
    LITEFUSE_REQUIRE(node, strides_.size() == 2 && strides_[0] > 0 && strides_[1] > 0,
                     "strides must be [rows, cols] with positive numbers, not %s", litefuse::Text(strides_).c_str());
    LITEFUSE_REQUIRE(node, padding == "SAME" || padding == "VALID", "padding must be SAME or VALID, not '%s'",
                     padding.c_str());
    same_ = padding == "SAME";
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor updates = node.input(0), mask = node.input(1);
    if (!node.CheckRank("updates", updates, 4) || !litefuse::CheckReal(node, "updates", updates)) return false;
    if (!node.CheckType("mask", mask, {kTfLiteInt32, kTfLiteInt64})) return false;
    LITEFUSE_REQUIRE(node, mask.shape() == updates.shape(), "mask must be int32 or int64 %s like updates, not %s",
                     litefuse::Text(updates.shape()).c_str(), litefuse::Text(mask.shape()).c_str());
    if (!litefuse::CheckOutputType(node, 0, updates.type())) return false;
    litefuse::Shape shape = updates.shape();
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t size = shape[axis + 1], stride = strides_[axis], pool = pool_size_[axis];
      const int64_t out = same_ ? size * stride : std::max<int64_t>((size - 1) * stride + pool, 0);
      LITEFUSE_REQUIRE(node, out <= INT32_MAX, "an image of %lld positions is too large", static_cast<long long>(out));
      shape[axis + 1] = static_cast<int>(out);
    }
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    return litefuse::VisitReals(node.input(0).type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (node.input(1).type() == kTfLiteInt32) return Run<T, int32_t>(node);
      return Run<T, int64_t>(node);
    });
  }

 private:
  template <typename T, typename Index>
  bool Run(Node& node) const {
    const Tensor updates = node.input(0), images = node.output(0);
    if (images.size() > 0) std::memset(images.mutable_data<char>(), 0, static_cast<size_t>(images.size()) * sizeof(T));
    if (updates.size() == 0) return true;
    const int64_t depth = images.dim(3);
    const int64_t size = depth * images.dim(1) * images.dim(2);
    const int64_t pixels = static_cast<int64_t>(updates.dim(1)) * updates.dim(2);
    const T* value = updates.data<T>();
    const Index* position = node.input(1).data<Index>();
    T* image = images.mutable_data<T>();
    for (int batch = 0; batch < updates.dim(0); ++batch, image += size) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel, value += depth, position += depth) {
        for (int64_t c = 0; c < depth; ++c) {
          const auto at = static_cast<int64_t>(position[c]);
          LITEFUSE_REQUIRE(node, at >= 0 && at < size,
                           "mask holds %lld, which lies outside of an image of %d x %d x %d",
                           static_cast<long long>(at), images.dim(1), images.dim(2), images.dim(3));
          T* to = image + First(at, depth) + c;
          *to = Sum(*to, value[c]);
        }
      }
    }
    return true;
  }

  // Where the pixel begins that the position `at` lies in; a 32-bit division is much faster.
  static int64_t First(int64_t at, int64_t depth) {
    if (at <= UINT32_MAX) return at - static_cast<uint32_t>(at) % static_cast<uint32_t>(depth);
    return at - at % depth;
  }

  std::vector<int32_t> pool_size_, strides_;
  bool same_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(MaxUnpooling2D, MaxUnpooling2D)
