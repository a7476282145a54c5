// Convolution2DTransposeBias: a transposed convolution of images, and a bias.
//
// images [batch, rows, cols, in_depth], weights [out_depth, filter_rows, filter_cols, in_depth], bias [out_depth], all
// float32 -> [batch, out_rows, out_cols, out_depth]. Options: strides ([rows, cols]) and padding (SAME, VALID); or the C
// struct TfLiteTransposeConvParams.
// Definition: MediaPipe (mediapipe/util/tflite/operations/transpose_conv_bias.cc).

#include <algorithm>
#include <vector>

#include "c_structs.h"
#include "litefuse/kernel.h"
#include "litefuse/trial.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;

class Convolution2DTransposeBias : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    return litefuse::ReadWindowOptions(node, options, false, &options_);
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(3, 1)) return false;
    const Tensor images = node.input(0), weights = node.input(1), bias = node.input(2);
    if (!node.CheckRank("input", images, 4) || !node.CheckType("input", images, {kTfLiteFloat32})) return false;
    if (!node.CheckRank("weights", weights, 4) || !node.CheckType("weights", weights, {kTfLiteFloat32})) return false;
    if (!node.CheckRank("bias", bias, 1) || !node.CheckType("bias", bias, {kTfLiteFloat32})) return false;
    if (!node.CheckType("the output", node.output(0), {kTfLiteFloat32})) return false;
    LITEFUSE_REQUIRE(node, weights.dim(3) == images.dim(3) && bias.dim(0) == weights.dim(0),
                     "weights are %s and bias %s; of images %s, they must be [out_depth, rows, cols, %d] and [out_depth]",
                     litefuse::Text(weights.shape()).c_str(), litefuse::Text(bias.shape()).c_str(),
                     litefuse::Text(images.shape()).c_str(), images.dim(3));
    litefuse::Shape shape = {images.dim(0), 0, 0, weights.dim(0)};
    for (int axis = 0; axis < 2; ++axis) {
      const int64_t size = images.dim(axis + 1), window = weights.dim(axis + 1);
      const int64_t stride = options_.strides[static_cast<size_t>(axis)];
      // Of an empty image as in Python, whose remainders are never negative.
      const int64_t rest = ((size - 1) % stride + stride) % stride;
      const int64_t padded = options_.padding == "SAME" ? std::max<int64_t>(window - 1 - rest, 0) : 0;
      const int64_t out = std::max<int64_t>((size - 1) * stride + window - padded, 0);
      LITEFUSE_REQUIRE(node, out <= INT32_MAX, "an image of %lld positions is too large", static_cast<long long>(out));
      before_[axis] = padded / 2;
      shape[static_cast<size_t>(axis) + 1] = static_cast<int>(out);
    }
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    const Tensor images = node.input(0), result = node.output(0);
    const int64_t in_depth = images.dim(3), depth = result.dim(3), rows = result.dim(1), cols = result.dim(2);
    if (result.size() == 0) return true;
    Arrange(node.input(1));
    const float* bias = node.input(2).data<float>();
    const float* pixel = images.data<float>();
    float* image = result.mutable_data<float>();
    const int64_t filter_rows = node.input(1).dim(1), filter_cols = node.input(1).dim(2);
    for (int64_t batch = 0; batch < images.dim(0); ++batch, image += rows * cols * depth) {
      for (int64_t at = 0; at < rows * cols; ++at) std::copy(bias, bias + depth, image + at * depth);
      for (int64_t y = 0; y < images.dim(1); ++y) {
        const int64_t top = y * options_.strides[0] - before_[0];
        for (int64_t x = 0; x < images.dim(2); ++x, pixel += in_depth) {
          const int64_t left = x * options_.strides[1] - before_[1];
          for (int64_t row = std::max<int64_t>(-top, 0); row < std::min(filter_rows, rows - top); ++row) {
            for (int64_t col = std::max<int64_t>(-left, 0); col < std::min(filter_cols, cols - left); ++col) {
              Add(pixel, weights_.data() + (row * filter_cols + col) * in_depth * depth, in_depth, depth,
                  image + ((top + row) * cols + left + col) * depth);
            }
          }
        }
      }
    }
    return true;
  }

 private:
  // Orders the weights as [rows, cols, in_depth, out_depth], so that those of all results stand together.
  void Arrange(const Tensor& tensor) {
    const int64_t depth = tensor.dim(0), rest = tensor.size() / std::max<int64_t>(depth, 1);
    weights_.resize(static_cast<size_t>(tensor.size()));
    const float* weights = tensor.data<float>();
    for (int64_t out = 0; out < depth; ++out) {
      for (int64_t at = 0; at < rest; ++at) weights_[static_cast<size_t>(at * depth + out)] = weights[out * rest + at];
    }
  }

  // Adds the products of a pixel with one of the weights of each depth.
  static void Add(const float* pixel, const float* weights, int64_t in_depth, int64_t depth, float* result) {
    for (int64_t in = 0; in < in_depth; ++in, weights += depth) {
      const float value = pixel[in];
      for (int64_t out = 0; out < depth; ++out) result[out] += value * weights[out];
    }
  }

  litefuse::WindowOptions options_;
  int64_t before_[2] = {0, 0};
  std::vector<float> weights_;
};

}  // namespace

LITEFUSE_DEFINE_SHARED_KERNEL(Convolution2DTransposeBias, Convolution2DTransposeBias)
