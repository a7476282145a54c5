// Landmarks2TransformMatrix: the matrix from the pixels of an upright crop around landmarks to those of the image.
//
// landmarks, float32 [1, landmarks, 3], or [1, 1, 1, 3 * landmarks] in version 1 -> float32 [1, 4, 4]. Options of
// version 2: subset_idxs, left_rotation_idx, right_rotation_idx, target_rotation_radians, output_width, output_height,
// scale_x, scale_y; of version 1: subset, left_rotation_idx, right_rotation_idx, input_hw, output_hw, landmarks_range,
// bbox_size_multiplier, dimensions.
//
// TransformLandmarks: the first two rows of a matrix applied to (x, y, 0, 1).
//
// landmarks, float32 [batch, landmarks, dimensions], or [batch, rows, cols, landmarks * dimensions] in version 1; a 4 x 4
// matrix, or one for each of the batch -> the landmarks. Options of version 1: dimensions (2 or 3) and scale.
//
// Definitions: MediaPipe (mediapipe/util/tflite/operations/landmarks_to_transform_matrix.cc, transform_landmarks.cc).

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "litefuse/kernel.h"
#include "matrices.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;

struct Point {
  double x, y;
};

Point Turned(Point point, double angle) {
  const double cos = std::cos(angle), sin = std::sin(angle);
  return {cos * point.x - sin * point.y, sin * point.x + cos * point.y};
}

bool Require(Node& node, const Options& options, const char* name, double* value) {
  return options.Get(name, value) || node.Fail("the option %s must be a number", name);
}

bool Require(Node& node, const Options& options, const char* name, std::vector<int32_t>* values) {
  return options.Get(name, values) || node.Fail("the option %s must be a list of integers", name);
}

class Landmarks2TransformMatrix : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    second_ = options.Has("subset_idxs");
    eyes_.resize(2);
    if (!Require(node, options, second_ ? "subset_idxs" : "subset", &subset_)) return false;
    LITEFUSE_REQUIRE(node, options.Get("left_rotation_idx", &eyes_[0]) && options.Get("right_rotation_idx", &eyes_[1]),
                     "the options left_rotation_idx and right_rotation_idx must be integers");
    if (second_) {
      if (!Require(node, options, "target_rotation_radians", &target_) ||
          !Require(node, options, "output_width", &size_.x) || !Require(node, options, "output_height", &size_.y) ||
          !Require(node, options, "scale_x", &scale_.x) || !Require(node, options, "scale_y", &scale_.y)) {
        return false;
      }
      LITEFUSE_REQUIRE(node, size_.x > 0 && size_.y > 0 && scale_.x > 0 && scale_.y > 0,
                       "output_width, output_height, scale_x and scale_y must be positive");
      return true;
    }
    std::vector<int32_t> image, crop;
    int32_t dimensions = 0;
    if (!Require(node, options, "input_hw", &image) || !Require(node, options, "output_hw", &crop) ||
        !Require(node, options, "landmarks_range", &range_) ||
        !Require(node, options, "bbox_size_multiplier", &scale_.x)) {
      return false;
    }
    for (const auto* each : {&image, &crop}) {
      LITEFUSE_REQUIRE(node, each->size() == 2 && (*each)[0] > 0 && (*each)[1] > 0,
                       "input_hw and output_hw must be [rows, cols] with positive numbers, not %s",
                       litefuse::Text(*each).c_str());
    }
    options.Get("dimensions", &dimensions);
    LITEFUSE_REQUIRE(node, dimensions == 3, "dimensions must be 3, not %d", dimensions);
    LITEFUSE_REQUIRE(node, range_ > 0 && scale_.x != 0,
                     "landmarks_range must be positive, and bbox_size_multiplier not 0");
    image_ = {image[1] - 1.0, image[0] - 1.0};
    size_ = {crop[1] - 1.0, crop[0] - 1.0};
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(1, 1)) return false;
    const Tensor landmarks = node.input(0);
    if (!node.CheckType("the landmarks", landmarks, {kTfLiteFloat32})) return false;
    if (!node.CheckType("the matrix", node.output(0), {kTfLiteFloat32})) return false;
    const litefuse::Shape shape = landmarks.shape();
    const int count = second_ ? (shape.size() == 3 ? shape[1] : 0) : shape.empty() ? 0 : shape.back() / 3;
    const litefuse::Shape expected =
        second_ ? litefuse::Shape{1, count, 3} : litefuse::Shape{1, 1, 1, count * 3};
    LITEFUSE_REQUIRE(node, shape == expected, "the landmarks must be %s, not %s",
                     second_ ? "[1, landmarks, 3]" : "[1, 1, 1, 3 * landmarks]", litefuse::Text(shape).c_str());
    for (const auto* each : {&subset_, &eyes_}) {
      LITEFUSE_REQUIRE(node, !each->empty(), "the indices of landmarks are missing");
      for (const int32_t index : *each) {
        LITEFUSE_REQUIRE(node, index >= 0 && index < count, "%d must be the index of one of %d landmarks", index,
                         count);
      }
    }
    return node.Resize(0, {1, 4, 4});
  }

  bool Invoke(Node& node) override {
    const float* landmarks = node.input(0).data<float>();
    const Point left = At(landmarks, eyes_[0]), right = At(landmarks, eyes_[1]);
    const double angle = second_ ? target_ - std::atan2(right.y - left.y, right.x - left.x)
                                 : -std::atan((right.y - left.y) / (right.x - left.x));
    Point least = Turned(At(landmarks, subset_[0]), angle), most = least;
    for (const int32_t index : subset_) {
      const Point point = Turned(At(landmarks, index), angle);
      least = {std::min(least.x, point.x), std::min(least.y, point.y)};
      most = {std::max(most.x, point.x), std::max(most.y, point.y)};
    }
    const Point middle = Turned({(most.x + least.x) / 2, (most.y + least.y) / 2}, -angle);
    const Point box = {most.x - least.x, most.y - least.y};
    const double cos = std::cos(-angle), sin = std::sin(-angle);
    double matrix[16] = {};
    if (second_) {
      const Point scale = {scale_.x * box.x / size_.x, scale_.y * box.y / size_.y};
      matrix[0] = cos * scale.x, matrix[1] = -sin * scale.y;
      matrix[4] = sin * scale.x, matrix[5] = cos * scale.y;
      matrix[3] = middle.x - (matrix[0] * (size_.x / 2) + matrix[1] * (size_.y / 2));
      matrix[7] = middle.y - (matrix[4] * (size_.x / 2) + matrix[5] * (size_.y / 2));
    } else {
      // From pixels of the crop to -1 .. 1, turned, scaled and moved there, and to pixels of the image.
      const Point scale = {box.x * scale_.x / range_, box.y * scale_.x / range_};
      const Point place = {middle.x / range_ * 2 - 1, middle.y / range_ * 2 - 1};
      const Point rows[2] = {{cos * scale.x, -sin * scale.y}, {sin * scale.x, cos * scale.y}};
      const double half[2] = {image_.x / 2, image_.y / 2}, moved[2] = {place.x, place.y};
      for (int row = 0; row < 2; ++row) {
        matrix[row * 4] = half[row] * rows[row].x * (2 / size_.x);
        matrix[row * 4 + 1] = half[row] * rows[row].y * (2 / size_.y);
        matrix[row * 4 + 3] = half[row] * (moved[row] - rows[row].x - rows[row].y) + half[row];
      }
    }
    matrix[10] = matrix[15] = 1;
    float* result = node.output(0).mutable_data<float>();
    for (int i = 0; i < 16; ++i) result[i] = static_cast<float>(matrix[i]);
    return true;
  }

 private:
  static Point At(const float* landmarks, int32_t index) {
    return {static_cast<double>(landmarks[static_cast<int64_t>(index) * 3]),
            static_cast<double>(landmarks[static_cast<int64_t>(index) * 3 + 1])};
  }

  bool second_ = false;
  std::vector<int32_t> subset_, eyes_;
  double target_ = 0, range_ = 1;
  Point image_ = {0, 0}, size_ = {0, 0}, scale_ = {0, 0};
};

class TransformLandmarks : public litefuse::Kernel {
 public:
  bool Configure(Node&, const Options& options) override {
    first_ = options.Get("dimensions", &dimensions_);
    options.Get("scale", &scale_);
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor landmarks = node.input(0);
    if (!node.CheckType("the landmarks", landmarks, {kTfLiteFloat32})) return false;
    if (!node.CheckType("the output", node.output(0), {kTfLiteFloat32})) return false;
    const litefuse::Shape shape = landmarks.shape();
    LITEFUSE_REQUIRE(node, shape.size() == (first_ ? 4u : 3u), "the landmarks must be %s, not %s",
                     first_ ? "[batch, rows, cols, landmarks * dimensions]" : "[batch, landmarks, 2 or 3]",
                     litefuse::Text(shape).c_str());
    if (!first_) dimensions_ = shape[2];
    LITEFUSE_REQUIRE(node, (dimensions_ == 2 || dimensions_ == 3) && shape.back() % dimensions_ == 0 && scale_ != 0,
                     "landmarks have 2 or 3 dimensions, of which %d are a multiple, and a scale that is not 0; not %d "
                     "and %g",
                     shape.back(), dimensions_, static_cast<double>(scale_));
    if (!litefuse::CheckMatrices(node, node.input(1), shape[0])) return false;
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    const Tensor landmarks = node.input(0);
    if (landmarks.size() == 0) return true;
    const float* from = landmarks.data<float>();
    float* to = node.output(0).mutable_data<float>();
    const int64_t count = landmarks.size() / landmarks.dim(0) / dimensions_;
    for (int batch = 0; batch < landmarks.dim(0); ++batch) {
      const float* matrix = litefuse::MatrixOf(node.input(1), batch);
      for (int64_t i = 0; i < count; ++i, from += dimensions_, to += dimensions_) {
        for (int axis = 0; axis < 2; ++axis) {
          const float* row = matrix + 4 * axis;
          to[axis] = (row[0] * from[0] + row[1] * from[1]) + row[3] * scale_;
        }
        if (dimensions_ == 3) to[2] = from[2];
      }
    }
    return true;
  }

 private:
  bool first_ = false;
  int32_t dimensions_ = 0;
  float scale_ = 1;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(Landmarks2TransformMatrix, Landmarks2TransformMatrix)
LITEFUSE_DEFINE_KERNEL(TransformLandmarks, TransformLandmarks)
