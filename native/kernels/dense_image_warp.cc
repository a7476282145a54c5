// DenseImageWarp: images resampled along a field of flow vectors.
//
// image [batch, rows, cols, depth] with 2 rows and columns or more, flow [batch, rows, cols, 2], each float16, float32 or
// float64 -> [batch, rows, cols, depth] of the image's type: at [b, y, x] the image at row y - flow[b, y, x, 0] and column
// x - flow[b, y, x, 1], bilinearly interpolated, the border's pixels outside. No options.
// Definition: the documentation of TensorFlow Addons (tfa.image.dense_image_warp).

#include <algorithm>
#include <cmath>

#include "litefuse/kernel.h"
#include "real_types.h"

namespace {

using litefuse::Node;
using litefuse::Tensor;
using litefuse::Wide;

// The place in an image that is sampled, along one dimension: `part` of the way from `floor` to the next position.
template <typename W>
struct Place {
  int64_t floor;
  W part;
};

// The query is rounded to the flow's type F, the part to the image's type T.
template <typename F, typename T>
Place<Wide<T>> Find(int64_t at, F flow, int64_t size) {
  const auto start = static_cast<Wide<F>>(static_cast<F>(static_cast<Wide<F>>(at)));
  const auto query = static_cast<double>(static_cast<Wide<F>>(static_cast<F>(start - static_cast<Wide<F>>(flow))));
  double floor = std::floor(query);
  floor = floor > 0 ? std::min(floor, static_cast<double>(size - 2)) : 0;  // also for NaN
  double part = query - floor;
  part = part < 0 ? 0 : part > 1 ? 1 : part;  // NaN stays
  const auto rounded = static_cast<T>(static_cast<Wide<T>>(part));
  return {static_cast<int64_t>(floor), static_cast<Wide<T>>(rounded)};
}

class DenseImageWarp : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor image = node.input(0), flow = node.input(1);
    if (!node.CheckType("image", image, {kTfLiteFloat16, kTfLiteFloat32, kTfLiteFloat64}) ||
        !node.CheckType("flow", flow, {kTfLiteFloat16, kTfLiteFloat32, kTfLiteFloat64})) {
      return false;
    }
    if (!node.CheckRank("image", image, 4)) return false;
    LITEFUSE_REQUIRE(node, image.dim(1) >= 2 && image.dim(2) >= 2,
                     "image must be [batch, rows, cols, depth] with 2 rows and columns or more, not %s",
                     litefuse::Text(image.shape()).c_str());
    const litefuse::Shape vectors = {image.dim(0), image.dim(1), image.dim(2), 2};
    LITEFUSE_REQUIRE(node, flow.shape() == vectors, "flow must be %s for an image of %s, not %s",
                     litefuse::Text(vectors).c_str(), litefuse::Text(image.shape()).c_str(),
                     litefuse::Text(flow.shape()).c_str());
    return litefuse::CheckOutputType(node, 0, image.type()) && node.Resize(0, image.shape());
  }

  bool Invoke(Node& node) override {
    return litefuse::VisitFloats(node.input(0).type(), [&](auto image_tag) {
      return litefuse::VisitFloats(node.input(1).type(), [&](auto flow_tag) {
        Run<typename decltype(image_tag)::type, typename decltype(flow_tag)::type>(node);
        return true;
      });
    });
  }

 private:
  template <typename T, typename F>
  static void Run(Node& node) {
    const Tensor images = node.input(0);
    if (images.size() == 0) return;
    const int64_t rows = images.dim(1), cols = images.dim(2), depth = images.dim(3);
    const T* image = images.data<T>();
    const F* flow = node.input(1).data<F>();
    T* to = node.output(0).mutable_data<T>();
    for (int batch = 0; batch < images.dim(0); ++batch, image += rows * cols * depth) {
      for (int64_t y = 0; y < rows; ++y) {
        for (int64_t x = 0; x < cols; ++x, flow += 2, to += depth) {
          const Place<Wide<T>> down = Find<F, T>(y, flow[0], rows), right = Find<F, T>(x, flow[1], cols);
          const T* above = image + (down.floor * cols + right.floor) * depth;
          Mix(above, above + cols * depth, depth, down.part, right.part, to);
        }
      }
    }
  }

  template <typename T>
  static void Mix(const T* above, const T* below, int64_t depth, Wide<T> down, Wide<T> right, T* to) {
    using W = Wide<T>;
    for (int64_t c = 0; c < depth; ++c) {
      const W upper = right * (static_cast<W>(above[depth + c]) - static_cast<W>(above[c])) + static_cast<W>(above[c]);
      const W lower = right * (static_cast<W>(below[depth + c]) - static_cast<W>(below[c])) + static_cast<W>(below[c]);
      to[c] = static_cast<T>(down * (lower - upper) + upper);
    }
  }
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(DenseImageWarp, DenseImageWarp)
