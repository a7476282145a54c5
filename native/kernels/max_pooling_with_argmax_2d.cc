// MaxPoolingWithArgmax2D: maximum pooling of images that also says where in its window each maximum was.
//
// images [batch, rows, cols, depth], float32 -> maxima [batch, out_rows, out_cols, depth] and their places, float32 of
// the same shape: row * pool_cols + col + 0.1. Options: pool_size, strides (each [rows, cols]), padding (SAME, VALID)
// and activation (NONE, RELU, RELU_N1_TO_1, RELU6); or the C struct TfLitePoolParams.
// Definition: MediaPipe (mediapipe/util/tflite/operations/max_pool_argmax.cc).

#include <algorithm>
#include <limits>
#include <vector>

#include "c_structs.h"
#include "litefuse/kernel.h"
#include "litefuse/trial.h"
#include "pooling_windows.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;
using litefuse::Windows;

class MaxPoolingWithArgmax2D : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    litefuse::WindowOptions read;
    if (!litefuse::ReadWindowOptions(node, options, true, &read)) return false;
    same_ = read.padding == "SAME";
    for (size_t axis = 0; axis < 2; ++axis) {
      windows_[axis].ksize = read.pool_size[axis];
      windows_[axis].stride = read.strides[axis];
    }
    const float infinity = std::numeric_limits<float>::infinity();
    if (read.activation == "NONE") {
      least_ = -infinity;
    } else if (read.activation == "RELU") {
      least_ = 0;
    } else if (read.activation == "RELU_N1_TO_1") {
      least_ = -1, most_ = 1;
    } else if (read.activation == "RELU6") {
      least_ = 0, most_ = 6;
    } else {
      return node.Fail("activation must be NONE, RELU, RELU_N1_TO_1 or RELU6, not '%s'", read.activation.c_str());
    }
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(1, 2)) return false;
    const Tensor images = node.input(0);
    if (!node.CheckRank("input", images, 4) || !node.CheckType("input", images, {kTfLiteFloat32})) return false;
    for (int output = 0; output < 2; ++output) {
      if (!node.CheckType(output == 0 ? "output 0" : "output 1", node.output(output), {kTfLiteFloat32})) return false;
    }
    if (!litefuse::PlanWindows(node, images, 1, same_, false, &windows_)) return false;
    const litefuse::Shape shape = {images.dim(0), static_cast<int>(windows_[0].out), static_cast<int>(windows_[1].out),
                                   images.dim(3)};
    return node.Resize(0, shape) && node.Resize(1, shape);
  }

  bool Invoke(Node& node) override {
    const Tensor images = node.input(0);
    const float* image = images.data<float>();
    float* best = node.output(0).mutable_data<float>();
    float* place = node.output(1).mutable_data<float>();
    if (node.output(0).size() == 0) return true;
    const Windows &rows = windows_[0], &cols = windows_[1];
    const int64_t depth = images.dim(3);
    for (int64_t batch = 0; batch < images.dim(0); ++batch, image += rows.size * cols.size * depth) {
      for (int64_t y = 0; y < rows.out; ++y) {
        for (int64_t x = 0; x < cols.out; ++x, best += depth, place += depth) {
          // Where the window begins, also outside of the image.
          const int64_t top = y * rows.stride - rows.before, left = x * cols.stride - cols.before;
          bool first = true;
          for (int64_t row = rows.First(y); row < rows.Last(y); ++row) {
            for (int64_t col = cols.First(x); col < cols.Last(x); ++col, first = false) {
              const float here = static_cast<float>((row - top) * cols.ksize + (col - left)) + 0.1f;
              Better(image + (row * cols.size + col) * depth, here, depth, first, best, place);
            }
          }
          for (int64_t c = 0; c < depth; ++c) {
            best[c] = best[c] < least_ ? least_ : best[c] > most_ ? most_ : best[c];
          }
        }
      }
    }
    return true;
  }

 private:
  // A NaN is not less than anything, nor anything less than it: it counts where it comes first.
  static void Better(const float* pixel, float here, int64_t depth, bool first, float* best, float* place) {
    for (int64_t c = 0; c < depth; ++c) {
      const bool better = first || best[c] < pixel[c];
      best[c] = better ? pixel[c] : best[c];
      place[c] = better ? here : place[c];
    }
  }

  std::vector<Windows> windows_ = std::vector<Windows>(2);
  bool same_ = false;
  float least_ = 0, most_ = std::numeric_limits<float>::infinity();
};

}  // namespace

LITEFUSE_DEFINE_SHARED_KERNEL(MaxPoolingWithArgmax2D, MaxPoolingWithArgmax2D)
