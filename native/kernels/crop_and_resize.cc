// CropAndResize: boxes cut out of images, each resized to the same size.
//
// image [batch, rows, cols, depth] of any real type, boxes [n, 4] float32 (y1, x1, y2, x2), box_ind [n] int32, crop_size
// [2] int32 -> [n, crop_rows, crop_cols, depth] float32. Options: method (bilinear, nearest), extrapolation_value (0).
// Definition: the op's documentation in TensorFlow (tf.raw_ops.CropAndResize).

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "litefuse/kernel.h"
#include "real_types.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;

// A position along a dimension of the image: `part` of the way from `first` to `second`.
struct Place {
  bool inside;
  int64_t first, second;
  float part;
};

class CropAndResize : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    std::string method = "bilinear";
    if (options.Has("method")) options.Get("method", &method);
    LITEFUSE_REQUIRE(node, method == "bilinear" || method == "nearest", "method must be bilinear or nearest, not '%s'",
                     method.c_str());
    nearest_ = method == "nearest";
    options.Get("extrapolation_value", &outside_);
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(4, 1)) return false;
    const Tensor image = node.input(0), boxes = node.input(1), numbers = node.input(2), crop_size = node.input(3);
    if (!node.CheckRank("image", image, 4) || !litefuse::CheckReal(node, "image", image)) return false;
    LITEFUSE_REQUIRE(node, image.dim(1) > 0 && image.dim(2) > 0,
                     "image must be [batch, rows, cols, depth] with rows and columns, not %s",
                     litefuse::Text(image.shape()).c_str());
    if (!node.CheckType("boxes", boxes, {kTfLiteFloat32}) || !node.CheckRank("boxes", boxes, 2)) return false;
    LITEFUSE_REQUIRE(node, boxes.dim(1) == 4, "boxes must be float32 [n, 4], not %s",
                     litefuse::Text(boxes.shape()).c_str());
    if (!node.CheckType("box_ind", numbers, {kTfLiteInt32}) || !node.CheckRank("box_ind", numbers, 1)) return false;
    LITEFUSE_REQUIRE(node, numbers.dim(0) == boxes.dim(0), "box_ind must be int32 [%d], not %s", boxes.dim(0),
                     litefuse::Text(numbers.shape()).c_str());
    if (!node.CheckType("crop_size", crop_size, {kTfLiteInt32}) || !node.CheckRank("crop_size", crop_size, 1)) {
      return false;
    }
    LITEFUSE_REQUIRE(node, crop_size.dim(0) == 2, "crop_size must be int32 [2], not %s",
                     litefuse::Text(crop_size.shape()).c_str());
    if (!litefuse::CheckOutputType(node, 0, kTfLiteFloat32)) return false;
    if (crop_size.is_constant()) return Resize(node);
    node.MakeDynamic(0);
    return true;
  }

  bool Invoke(Node& node) override {
    if (node.IsDynamic(0) && !Resize(node)) return false;
    return litefuse::VisitReals(node.input(0).type(),
                                  [&](auto tag) { return Run<typename decltype(tag)::type>(node); });
  }

 private:
  // Gives the output the shape that crop_size says.
  static bool Resize(Node& node) {
    const int32_t* sizes = node.input(3).data<int32_t>();
    LITEFUSE_REQUIRE(node, sizes[0] > 0 && sizes[1] > 0, "crop_size must be positive, not [%d, %d]", sizes[0],
                     sizes[1]);
    return node.Resize(0, {node.input(1).dim(0), sizes[0], sizes[1], node.input(0).dim(3)});
  }

  // The positions along a dimension of the image from one side of a box to the other.
  void Find(float first, float last, int64_t size, std::vector<Place>* places) const {
    const auto end = static_cast<float>(size - 1);
    const size_t count = places->size();
    const float scale = count > 1 ? (last - first) * end / static_cast<float>(count - 1) : 0;
    for (size_t index = 0; index < count; ++index) {
      const float at = count > 1 ? first * end + static_cast<float>(index) * scale : (first + last) / 2 * end;
      Place& place = (*places)[index];
      place.inside = at >= 0 && at <= end;
      if (!place.inside) continue;
      const float floor = nearest_ ? std::round(at) : std::floor(at);
      place.first = static_cast<int64_t>(floor);
      place.second = static_cast<int64_t>(std::ceil(at));
      place.part = at - floor;
    }
  }

  template <typename T>
  bool Run(Node& node) const {
    const Tensor images = node.input(0), crops = node.output(0);
    const float* box = node.input(1).data<float>();
    const int32_t* number = node.input(2).data<int32_t>();
    const int64_t rows = images.dim(1), cols = images.dim(2), depth = images.dim(3);
    const bool empty = crops.size() == 0;  // then it may be of any size
    std::vector<Place> down(empty ? 0 : static_cast<size_t>(crops.dim(1)));
    std::vector<Place> across(empty ? 0 : static_cast<size_t>(crops.dim(2)));
    float* to = crops.mutable_data<float>();
    for (int n = 0; n < crops.dim(0); ++n, box += 4, ++number) {
      LITEFUSE_REQUIRE(node, *number >= 0 && *number < images.dim(0), "box_ind holds %d, and there are %d images",
                       *number, images.dim(0));
      for (int side = 0; side < 4; ++side) {
        LITEFUSE_REQUIRE(node, std::isfinite(box[side]), "boxes must be finite, and hold %g",
                         static_cast<double>(box[side]));
      }
      if (empty) continue;
      Find(box[0], box[2], rows, &down);
      Find(box[1], box[3], cols, &across);
      const T* image = images.data<T>() + *number * rows * cols * depth;
      for (const Place& y : down) {
        if (!y.inside) {
          to = std::fill_n(to, static_cast<int64_t>(across.size()) * depth, outside_);
          continue;
        }
        const T* above = image + y.first * cols * depth;
        const T* below = image + y.second * cols * depth;
        for (const Place& x : across) {
          if (!x.inside) {
            to = std::fill_n(to, depth, outside_);
            continue;
          }
          const int64_t left = x.first * depth, right = x.second * depth;
          if (nearest_) {
            for (int64_t c = 0; c < depth; ++c) to[c] = static_cast<float>(above[left + c]);
          } else {
            Mix(above + left, above + right, below + left, below + right, depth, y.part, x.part, to);
          }
          to += depth;
        }
      }
    }
    return true;
  }

  template <typename T>
  static void Mix(const T* top_left, const T* top_right, const T* bottom_left, const T* bottom_right, int64_t depth,
                  float down, float across, float* to) {
    for (int64_t c = 0; c < depth; ++c) {
      const auto top = static_cast<float>(top_left[c]), bottom = static_cast<float>(bottom_left[c]);
      const float upper = top + (static_cast<float>(top_right[c]) - top) * across;
      const float lower = bottom + (static_cast<float>(bottom_right[c]) - bottom) * across;
      to[c] = upper + (lower - upper) * down;
    }
  }

  bool nearest_ = false;
  float outside_ = 0;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(CropAndResize, CropAndResize)
