// TransformTensorBilinear: images seen through an affine transformation, with bilinear interpolation.
//
// images [batch, rows, cols, depth], a 4 x 4 matrix or one for each image, all float32 -> [batch, out_rows, out_cols,
// depth]; zero outside of the image. Options: output_size ([rows, cols]; version 1); or output_height and output_width
// (version 2, whose matrix is moved by half a pixel).
// Definition: MediaPipe (mediapipe/util/tflite/operations/transform_tensor_bilinear.cc).

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "litefuse/kernel.h"
#include "matrices.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;

class TransformTensorBilinear : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    from_corners_ = !options.Has("output_size");
    if (from_corners_) {
      size_.assign(2, 0);
      options.Get("output_height", &size_[0]);
      options.Get("output_width", &size_[1]);
    } else {
      options.Get("output_size", &size_);
    }
    LITEFUSE_REQUIRE(node, size_.size() == 2 && size_[0] > 0 && size_[1] > 0,
                     "output_size, or output_height and output_width, must be two positive numbers, not %s",
                     litefuse::Text(size_).c_str());
    std::string mode = "bilinear";
    options.Get("mode", &mode);
    LITEFUSE_REQUIRE(node, mode == "bilinear", "mode must be 'bilinear', not '%s'", mode.c_str());
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor images = node.input(0);
    if (!node.CheckRank("images", images, 4) || !node.CheckType("images", images, {kTfLiteFloat32})) return false;
    if (!node.CheckType("the output", node.output(0), {kTfLiteFloat32})) return false;
    if (!litefuse::CheckMatrices(node, node.input(1), images.dim(0))) return false;
    return node.Resize(0, {images.dim(0), size_[0], size_[1], images.dim(3)});
  }

  bool Invoke(Node& node) override {
    const Tensor images = node.input(0);
    const int64_t rows = images.dim(1), cols = images.dim(2), depth = images.dim(3);
    const float* image = images.data<float>();
    float* result = node.output(0).mutable_data<float>();
    if (node.output(0).size() == 0) return true;
    for (int batch = 0; batch < images.dim(0); ++batch, image += rows * cols * depth) {
      const float* matrix = litefuse::MatrixOf(node.input(1), batch);
      const float last[2] = {Last(matrix), Last(matrix + 4)};
      for (int row = 0; row < size_[0]; ++row) {
        for (int col = 0; col < size_[1]; ++col, result += depth) {
          const auto x = static_cast<float>(col), y = static_cast<float>(row);
          const float at_x = (matrix[0] * x + matrix[1] * y) + last[0];
          const float at_y = (matrix[4] * x + matrix[5] * y) + last[1];
          if (at_x >= 0 && at_x <= static_cast<float>(cols - 1) && at_y >= 0 && at_y <= static_cast<float>(rows - 1)) {
            Interpolate(image, rows, cols, depth, at_x, at_y, result);
          } else {
            std::fill(result, result + depth, 0.0f);
          }
        }
      }
    }
    return true;
  }

 private:
  float Last(const float* row) const {
    if (!from_corners_) return row[3];
    const double moved = static_cast<double>(row[0]) * 0.5 + static_cast<double>(row[1]) * 0.5 - 0.5;
    return static_cast<float>(static_cast<double>(row[3]) + moved);
  }

  static void Interpolate(const float* image, int64_t rows, int64_t cols, int64_t depth, double x, double y,
                          float* result) {
    const auto left = std::min<int64_t>(static_cast<int64_t>(std::floor(x)), cols - 1);
    const auto top = std::min<int64_t>(static_cast<int64_t>(std::floor(y)), rows - 1);
    const int64_t right = std::min(left + 1, cols - 1), bottom = std::min(top + 1, rows - 1);
    const double across = x - static_cast<double>(left), down = y - static_cast<double>(top);
    const float* corners[] = {image + (top * cols + left) * depth, image + (top * cols + right) * depth,
                              image + (bottom * cols + left) * depth, image + (bottom * cols + right) * depth};
    for (int64_t c = 0; c < depth; ++c) {
      const double upper = (1 - across) * static_cast<double>(corners[0][c]) + across * static_cast<double>(corners[1][c]);
      const double lower = (1 - across) * static_cast<double>(corners[2][c]) + across * static_cast<double>(corners[3][c]);
      result[c] = static_cast<float>(down * lower + (1 - down) * upper);
    }
  }

  std::vector<int32_t> size_;
  bool from_corners_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(TransformTensorBilinear, TransformTensorBilinear)
