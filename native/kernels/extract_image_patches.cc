// ExtractImagePatches: the patches around each position of an image, laid out as channels.
//
// images [batch, rows, cols, depth] of any type with elements of whole bytes -> [batch, out_rows, out_cols,
// ksize_rows * ksize_cols * depth], of the same scale and zero point if they are quantized. Options: ksizes, strides,
// rates (each [1, rows, cols, 1]) and padding (VALID, SAME).
// Definition: the op's documentation in TensorFlow (tf.raw_ops.ExtractImagePatches).

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "litefuse/kernel.h"
#include "numbers.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Tensor;

// The patches along the rows or the columns.
struct Axis {
  int64_t size = 0;  // of the image
  int64_t ksize = 1, stride = 1, rate = 1;
  int64_t out = 0;     // how many patches
  int64_t before = 0;  // how many positions before the image the first patch begins

  bool Plan(int image_size, bool same) {
    size = image_size;
    const int64_t effective = ksize + (ksize - 1) * (rate - 1);
    if (same) {
      out = (size + stride - 1) / stride;
      before = std::max<int64_t>((out - 1) * stride + effective - size, 0) / 2;
    } else {
      out = (size - effective + stride) / stride;
      before = 0;
    }
    return out >= 0;
  }

  // The places k of the patch at `at` that lie inside of the image: first <= k < last.
  void Inside(int64_t at, int64_t* first, int64_t* last) const {
    const int64_t begin = at * stride - before;
    *first = std::min(begin >= 0 ? 0 : (-begin + rate - 1) / rate, ksize);
    *last = begin >= size ? *first : std::min(ksize, (size - 1 - begin) / rate + 1);
    *last = std::max(*first, *last);
  }
};

// memcpy, without its call for the few bytes that a patch's row of a thin image has.
inline void CopyRun(char* to, const char* from, size_t bytes) {
  if (bytes > 128) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= 16) {
    // The last block overlaps the one before.
    for (size_t at = 0; at + 16 < bytes; at += 16) std::memcpy(to + at, from + at, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + bytes - 8, from + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + bytes - 4, from + bytes - 4, 4);
  } else {
    for (size_t at = 0; at < bytes; ++at) to[at] = from[at];
  }
}

class ExtractImagePatches : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    struct Pair {
      const char* name;
      int64_t* rows;
      int64_t* cols;
    };
    const Pair pairs[] = {{"ksizes", &rows_.ksize, &cols_.ksize},
                          {"strides", &rows_.stride, &cols_.stride},
                          {"rates", &rows_.rate, &cols_.rate}};
    for (const Pair& pair : pairs) {
      std::vector<int32_t> values;
      LITEFUSE_REQUIRE(node, options.Get(pair.name, &values), "the option %s must be a list of integers",
                       pair.name);
      LITEFUSE_REQUIRE(node, values.size() == 4 && values[0] == 1 && values[3] == 1 && values[1] > 0 && values[2] > 0,
                       "%s must be [1, rows, cols, 1] with positive numbers, not %s", pair.name,
                       litefuse::Text(values).c_str());
      *pair.rows = values[1];
      *pair.cols = values[2];
    }
    std::string padding;
    LITEFUSE_REQUIRE(node, options.Get("padding", &padding) && (padding == "SAME" || padding == "VALID"),
                     "padding must be SAME or VALID, not '%s'", padding.c_str());
    same_ = padding == "SAME";
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(1, 1)) return false;
    const Tensor images = node.input(0);
    if (!node.CheckRank("images", images, 4)) return false;
    item_ = litefuse::ElementSize(images.type());
    LITEFUSE_REQUIRE(node, item_ > 0, "images are of %s", litefuse::TypeName(images.type()));
    LITEFUSE_REQUIRE(node, node.output(0).type() == images.type(), "the output is of %s, the images are of %s",
                     litefuse::TypeName(node.output(0).type()), litefuse::TypeName(images.type()));
    LITEFUSE_REQUIRE(node, rows_.Plan(images.dim(1), same_) && cols_.Plan(images.dim(2), same_),
                     "a patch does not fit into the image, and padding is VALID");
    int64_t channels;
    LITEFUSE_REQUIRE(node, litefuse::Multiply({rows_.ksize, cols_.ksize, images.dim(3)}, &channels) &&
                               channels <= INT32_MAX,
                     "a patch of %lld x %lld pixels of %d values is too large", static_cast<long long>(rows_.ksize),
                     static_cast<long long>(cols_.ksize), images.dim(3));
    if (!node.CheckSameScale(0, 0)) return false;
    const litefuse::Quantization scale = images.quantization();
    zero_ = {};
    if (scale) {
      litefuse::VisitIntegers(images.type(), [&](auto tag) {
        const auto zero = scale.Quantize<typename decltype(tag)::type>(0);
        std::memcpy(zero_.data(), &zero, sizeof(zero));
        return true;
      });
    }
    return node.Resize(0, {images.dim(0), static_cast<int>(rows_.out), static_cast<int>(cols_.out),
                           static_cast<int>(channels)});
  }

  bool Invoke(Node& node) override {
    const Tensor images = node.input(0), patches = node.output(0);
    if (patches.size() == 0) return true;
    const size_t pixel = static_cast<size_t>(images.dim(3)) * item_;
    const size_t image_row = pixel * static_cast<size_t>(cols_.size);
    const size_t patch_row = pixel * static_cast<size_t>(cols_.ksize);
    const char* image = images.data<char>();
    char* to = patches.mutable_data<char>();
    for (int batch = 0; batch < images.dim(0); ++batch, image += image_row * static_cast<size_t>(rows_.size)) {
      for (int64_t y = 0; y < rows_.out; ++y) {
        int64_t first_row, last_row;
        rows_.Inside(y, &first_row, &last_row);
        for (int64_t x = 0; x < cols_.out; ++x) {
          int64_t first_col, last_col;
          cols_.Inside(x, &first_col, &last_col);
          const int64_t left = x * cols_.stride - cols_.before;
          const size_t before = pixel * static_cast<size_t>(first_col);
          const size_t inside = pixel * static_cast<size_t>(last_col - first_col);
          for (int64_t r = 0; r < rows_.ksize; ++r, to += patch_row) {
            if (r < first_row || r >= last_row || inside == 0) {
              Pad(to, patch_row);
              continue;
            }
            const int64_t row = y * rows_.stride - rows_.before + r * rows_.rate;
            const char* from = image + static_cast<size_t>(row) * image_row;
            if (before > 0) Pad(to, before);
            if (cols_.rate == 1) {
              // Neighbors in the patch are neighbors in the image: one run of bytes.
              CopyRun(to + before, from + (left + first_col) * static_cast<int64_t>(pixel), inside);
            } else {
              char* at = to + before;
              for (int64_t c = first_col; c < last_col; ++c, at += pixel) {
                CopyRun(at, from + (left + c * cols_.rate) * static_cast<int64_t>(pixel), pixel);
              }
            }
            if (before + inside < patch_row) Pad(to + before + inside, patch_row - before - inside);
          }
        }
      }
    }
    return true;
  }

 private:
  // What is outside of the image.
  void Pad(char* to, size_t bytes) const {
    if (item_ == 1 || zero_ == std::array<char, 8>{}) {
      std::memset(to, zero_[0], bytes);
    } else {
      for (size_t at = 0; at < bytes; at += item_) std::memcpy(to + at, zero_.data(), item_);
    }
  }

  Axis rows_, cols_;
  bool same_ = false;
  size_t item_ = 0;
  std::array<char, 8> zero_{};  // the integer of the number 0, in its first bytes; else nothing but 0
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(ExtractImagePatches, ExtractImagePatches)
