// MaxPoolWithArgmax: maximum pooling of images that also says where each maximum was.
//
// images [batch, rows, cols, depth] of any real type -> maxima [batch, out_rows, out_cols, depth], of the same scale and
// zero point if they are quantized, and their positions, of the same shape, int32 or int64. Options: ksize, strides (each [1, rows, cols, 1]), padding (VALID, SAME) and
// include_batch_in_index (bool, false).
// Definition: the op's documentation in TensorFlow (tf.raw_ops.MaxPoolWithArgmax).

#include <algorithm>
#include <vector>

#include "litefuse/kernel.h"
#include "pooling_windows.h"
#include "real_types.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;
using litefuse::Windows;

class MaxPoolWithArgmax : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    options.Get("include_batch_in_index", &include_batch_);
    return litefuse::ReadWindows(node, options, 4, 1, &windows_, &same_);
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(1, 2)) return false;
    const Tensor images = node.input(0);
    if (!node.CheckRank("input", images, 4) || !litefuse::CheckReal(node, "input", images)) return false;
    if (!litefuse::CheckOutputType(node, 0, images.type())) return false;
    if (!node.CheckType("argmax", node.output(1), {kTfLiteInt32, kTfLiteInt64})) return false;
    if (!node.CheckSameScale(0, 0)) return false;
    if (!litefuse::PlanWindows(node, images, 1, same_, false, &windows_)) return false;
    const litefuse::Shape shape = {images.dim(0), static_cast<int>(windows_[0].out), static_cast<int>(windows_[1].out),
                                   images.dim(3)};
    return node.Resize(0, shape) && node.Resize(1, shape);
  }

  bool Invoke(Node& node) override {
    return litefuse::VisitReals(node.input(0).type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (node.output(1).type() == kTfLiteInt32) return Run<T, int32_t>(node);
      return Run<T, int64_t>(node);
    });
  }

 private:
  template <typename T, typename Index>
  bool Run(Node& node) const {
    const Tensor images = node.input(0);
    const T* image = images.data<T>();
    T* best = node.output(0).mutable_data<T>();
    Index* argmax = node.output(1).mutable_data<Index>();
    if (node.output(0).size() == 0) return true;
    const Windows &rows = windows_[0], &cols = windows_[1];
    const int64_t depth = images.dim(3);
    const int64_t pixels = rows.size * cols.size;
    for (int64_t batch = 0; batch < images.dim(0); ++batch, image += pixels * depth) {
      const int64_t base = include_batch_ ? batch * pixels * depth : 0;
      for (int64_t y = 0; y < rows.out; ++y) {
        for (int64_t x = 0; x < cols.out; ++x, best += depth, argmax += depth) {
          const int64_t left = cols.First(x), right = cols.Last(x);
          const int64_t first = (rows.First(y) * cols.size + left) * depth;
          std::copy(image + first, image + first + depth, best);
          for (int64_t c = 0; c < depth; ++c) argmax[c] = static_cast<Index>(base + first + c);
          for (int64_t row = rows.First(y); row < rows.Last(y); ++row) {
            for (int64_t col = left; col < right; ++col) {
              const int64_t at = (row * cols.size + col) * depth;
              Better(image + at, static_cast<Index>(base + at), depth, best, argmax);
            }
          }
        }
      }
    }
    return true;
  }

  // A NaN is not less than anything, nor anything less than it: it counts where it comes first.
  template <typename T, typename Index>
  static void Better(const T* pixel, Index first, int64_t depth, T* best, Index* argmax) {
    for (int64_t c = 0; c < depth; ++c) {
      const bool better = static_cast<litefuse::Wide<T>>(best[c]) < static_cast<litefuse::Wide<T>>(pixel[c]);
      best[c] = better ? pixel[c] : best[c];
      argmax[c] = better ? static_cast<Index>(first + static_cast<Index>(c)) : argmax[c];
    }
  }

  std::vector<Windows> windows_ = std::vector<Windows>(2);
  bool same_ = false;
  bool include_batch_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(MaxPoolWithArgmax, MaxPoolWithArgmax)
