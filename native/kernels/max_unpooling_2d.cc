// MaxUnpooling2D: values put back to where maximum pooling took them from.
//
// updates [batch, rows, cols, depth] of any real type, mask (the same shape) -> [batch, out_rows, out_cols, depth].
// Of int32 or int64, the mask has positions in one output image, and values at the same place are added; of float32,
// positions in the values' windows, as MediaPipe's MaxPoolingWithArgmax2D gives them, or integers' bits, as XNNPACK
// does, and the last of several values counts. Options: pool_size, strides (each [rows, cols]) and padding (SAME,
// VALID); or the C struct TfLitePoolParams.
// Definitions: the documentation of TensorFlow Addons (tfa.layers.MaxUnpooling2D); MediaPipe
// (mediapipe/util/tflite/operations/max_unpooling.cc).

#include <algorithm>
#include <cstring>
#include <vector>

#include "c_structs.h"
#include "litefuse/kernel.h"
#include "litefuse/trial.h"
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
    return litefuse::ReadWindowOptions(node, options, true, &options_);
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor updates = node.input(0), mask = node.input(1);
    if (!node.CheckRank("updates", updates, 4) || !litefuse::CheckReal(node, "updates", updates)) return false;
    if (!node.CheckType("mask", mask, {kTfLiteInt32, kTfLiteInt64, kTfLiteFloat32})) return false;
    LITEFUSE_REQUIRE(node, mask.shape() == updates.shape(),
                     "mask must be int32, int64 or float32 %s like updates, not %s",
                     litefuse::Text(updates.shape()).c_str(), litefuse::Text(mask.shape()).c_str());
    if (!litefuse::CheckOutputType(node, 0, updates.type())) return false;
    const bool in_windows = mask.type() == kTfLiteFloat32;
    const std::vector<int32_t>&strides = options_.strides, &pools = options_.pool_size;
    LITEFUSE_REQUIRE(node, !in_windows || (strides[0] <= pools[0] && strides[1] <= pools[1]),
                     "strides %s are larger than pool_size %s", litefuse::Text(strides).c_str(),
                     litefuse::Text(pools).c_str());
    litefuse::Shape shape = updates.shape();
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t size = shape[axis + 1], stride = strides[axis], pool = pools[axis];
      const int64_t out = in_windows                  ? size * pool
                          : options_.padding == "SAME" ? size * stride
                                                       : std::max<int64_t>((size - 1) * stride + pool, 0);
      LITEFUSE_REQUIRE(node, out <= INT32_MAX, "an image of %lld positions is too large", static_cast<long long>(out));
      shape[axis + 1] = static_cast<int>(out);
    }
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    const Tensor images = node.output(0);
    return litefuse::VisitReals(node.input(0).type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (images.size() > 0) {
        std::memset(images.mutable_data<char>(), 0, static_cast<size_t>(images.size()) * sizeof(T));
      }
      if (node.input(0).size() == 0) return true;
      if (node.input(1).type() == kTfLiteFloat32) return RunInWindows<T>(node);
      if (node.input(1).type() == kTfLiteInt32) return Run<T, int32_t>(node);
      return Run<T, int64_t>(node);
    });
  }

 private:
  template <typename T, typename Index>
  bool Run(Node& node) const {
    const Tensor updates = node.input(0), images = node.output(0);
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

  template <typename T>
  bool RunInWindows(Node& node) const {
    const Tensor updates = node.input(0), images = node.output(0);
    const int64_t depth = images.dim(3), cols = images.dim(2);
    const int64_t pool_rows = options_.pool_size[0], pool_cols = options_.pool_size[1];
    const T* value = updates.data<T>();
    const float* position = node.input(1).data<float>();
    T* image = images.mutable_data<T>();
    for (int batch = 0; batch < updates.dim(0); ++batch, image += images.dim(1) * cols * depth) {
      for (int64_t y = 0; y < updates.dim(1); ++y) {
        for (int64_t x = 0; x < updates.dim(2); ++x, value += depth, position += depth) {
          T* window = image + (y * options_.strides[0] * cols + x * options_.strides[1]) * depth;
          for (int64_t c = 0; c < depth; ++c) {
            const int64_t at = Place(position[c]);
            LITEFUSE_REQUIRE(node, at >= 0 && at < pool_rows * pool_cols,
                             "mask holds %g, which lies outside of a window of %lld x %lld",
                             static_cast<double>(position[c]), static_cast<long long>(pool_rows),
                             static_cast<long long>(pool_cols));
            window[(at / pool_cols * cols + at % pool_cols) * depth + c] = value[c];
          }
        }
      }
    }
    return true;
  }

  // The number without its fraction, or the bits of an integer; -1 for what is neither.
  static int64_t Place(float position) {
    const uint32_t bits = litefuse::internal::BitsOf(position);
    if ((bits & 0x7F800000u) == 0) return bits;
    return position > -1.0f && position < 9e15f ? static_cast<int64_t>(position) : -1;
  }

  litefuse::WindowOptions options_;
};

}  // namespace

LITEFUSE_DEFINE_SHARED_KERNEL(MaxUnpooling2D, MaxUnpooling2D)
