// MaxPool3D and AvgPool3D: pooling of volumes.
//
// volumes [batch, planes, rows, cols, depth] float16, bfloat16, float32 or float64 -> [batch, out_planes, out_rows,
// out_cols, depth]; for MaxPool3D also int8 and int16, of the same scale and zero point if they are quantized. Options:
// ksize, strides (each [1, planes, rows, cols, 1]), padding (VALID, SAME), data_format (NDHWC, or NCDHW, in which all four
// have the channels second). Padding does not count. As TensorFlow's kernels for the CPU do, SAME centers windows that
// are further apart than their size.
// Definition: the ops' documentation in TensorFlow (tf.raw_ops.MaxPool3D, tf.raw_ops.AvgPool3D).

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "litefuse/kernel.h"
#include "pooling_windows.h"
#include "real_types.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;
using litefuse::Wide;
using litefuse::Windows;

struct Max {
  static constexpr bool kIntegers = true;
  template <typename W>
  static W Start() {
    return std::is_integral_v<W> ? std::numeric_limits<W>::min() : -std::numeric_limits<W>::infinity();
  }
  // A NaN stays.
  template <typename W>
  static W Add(W total, W value) {
    return value > total || value != value ? value : total;
  }
  template <typename W>
  static W Finish(W total, int64_t) {
    return total;
  }
};

struct Mean {
  static constexpr bool kIntegers = false;
  template <typename W>
  static W Start() {
    return 0;
  }
  template <typename W>
  static W Add(W total, W value) {
    return total + value;
  }
  template <typename W>
  static W Finish(W total, int64_t count) {
    return total / static_cast<W>(count);
  }
};

template <typename Reduction>
class Pool3D : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    std::string format = "NDHWC";
    if (options.Has("data_format")) options.Get("data_format", &format);
    LITEFUSE_REQUIRE(node, format == "NDHWC" || format == "NCDHW", "data_format must be NDHWC or NCDHW, not '%s'",
                     format.c_str());
    first_ = format == "NDHWC" ? 1 : 2;
    return litefuse::ReadWindows(node, options, 5, static_cast<size_t>(first_), &windows_, &same_);
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(1, 1)) return false;
    const Tensor volumes = node.input(0);
    if (!node.CheckRank("input", volumes, 5)) return false;
    if constexpr (Reduction::kIntegers) {
      if (!node.CheckType("input", volumes, {kTfLiteFloat16, kTfLiteBFloat16, kTfLiteFloat32, kTfLiteFloat64,
                                             kTfLiteInt8, kTfLiteInt16}) ||
          !node.CheckSameScale(0, 0)) {
        return false;
      }
    } else if (!node.CheckType("input", volumes,
                               {kTfLiteFloat16, kTfLiteBFloat16, kTfLiteFloat32, kTfLiteFloat64})) {
      return false;
    }
    if (!litefuse::CheckOutputType(node, 0, volumes.type())) return false;
    if (!litefuse::PlanWindows(node, volumes, static_cast<size_t>(first_), same_, true, &windows_)) return false;
    litefuse::Shape shape = volumes.shape();
    for (size_t axis = 0; axis < 3; ++axis) {
      shape[static_cast<size_t>(first_) + axis] = static_cast<int>(windows_[axis].out);
    }
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    if constexpr (Reduction::kIntegers) {
      if (node.input(0).type() == kTfLiteInt8) return Run<int8_t>(node);
      if (node.input(0).type() == kTfLiteInt16) return Run<int16_t>(node);
    }
    return litefuse::VisitFloats(node.input(0).type(),
                                 [&](auto tag) { return Run<typename decltype(tag)::type>(node); });
  }

 private:
  template <typename T>
  bool Run(Node& node) {
    const Tensor volumes = node.input(0);
    if (node.output(0).size() == 0) return true;
    // With the channels second, each channel is a volume of one channel.
    const int64_t depth = first_ == 1 ? volumes.dim(4) : 1;
    const int64_t count = first_ == 1 ? volumes.dim(0) : static_cast<int64_t>(volumes.dim(0)) * volumes.dim(1);
    const T* volume = volumes.data<T>();
    T* to = node.output(0).mutable_data<T>();
    std::vector<Wide<T>> totals(static_cast<size_t>(depth));
    const Windows &planes = windows_[0], &rows = windows_[1], &cols = windows_[2];
    for (int64_t n = 0; n < count; ++n, volume += planes.size * rows.size * cols.size * depth) {
      for (int64_t z = 0; z < planes.out; ++z) {
        for (int64_t y = 0; y < rows.out; ++y) {
          for (int64_t x = 0; x < cols.out; ++x, to += depth) {
            if (depth == 1) {
              *to = One(volume, z, y, x);
            } else {
              Pixel(volume, z, y, x, depth, totals.data(), to);
            }
          }
        }
      }
    }
    return true;
  }

  int64_t Count(int64_t z, int64_t y, int64_t x) const {
    const Windows &planes = windows_[0], &rows = windows_[1], &cols = windows_[2];
    return (planes.Last(z) - planes.First(z)) * (rows.Last(y) - rows.First(y)) * (cols.Last(x) - cols.First(x));
  }

  template <typename T>
  T One(const T* volume, int64_t z, int64_t y, int64_t x) const {
    const Windows &planes = windows_[0], &rows = windows_[1], &cols = windows_[2];
    Wide<T> total = Reduction::template Start<Wide<T>>();
    for (int64_t plane = planes.First(z); plane < planes.Last(z); ++plane) {
      for (int64_t row = rows.First(y); row < rows.Last(y); ++row) {
        const T* line = volume + (plane * rows.size + row) * cols.size;
        for (int64_t col = cols.First(x); col < cols.Last(x); ++col) {
          total = Reduction::Add(total, static_cast<Wide<T>>(line[col]));
        }
      }
    }
    return static_cast<T>(Reduction::Finish(total, Count(z, y, x)));
  }

  template <typename T>
  void Pixel(const T* volume, int64_t z, int64_t y, int64_t x, int64_t depth, Wide<T>* totals, T* to) const {
    const Windows &planes = windows_[0], &rows = windows_[1], &cols = windows_[2];
    std::fill(totals, totals + depth, Reduction::template Start<Wide<T>>());
    for (int64_t plane = planes.First(z); plane < planes.Last(z); ++plane) {
      for (int64_t row = rows.First(y); row < rows.Last(y); ++row) {
        const T* pixel = volume + ((plane * rows.size + row) * cols.size + cols.First(x)) * depth;
        for (int64_t col = cols.First(x); col < cols.Last(x); ++col, pixel += depth) {
          for (int64_t c = 0; c < depth; ++c) totals[c] = Reduction::Add(totals[c], static_cast<Wide<T>>(pixel[c]));
        }
      }
    }
    const int64_t count = Count(z, y, x);
    for (int64_t c = 0; c < depth; ++c) to[c] = static_cast<T>(Reduction::Finish(totals[c], count));
  }

  std::vector<Windows> windows_ = std::vector<Windows>(3);
  int first_ = 1;  // the dimension of the planes
  bool same_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(MaxPool3D, Pool3D<Max>)
LITEFUSE_DEFINE_KERNEL(AvgPool3D, Pool3D<Mean>)
