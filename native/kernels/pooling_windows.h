// The windows of TensorFlow's pooling ops: where they lie, and what of them lies in the image.
#ifndef LITEFUSE_KERNELS_POOLING_WINDOWS_H_
#define LITEFUSE_KERNELS_POOLING_WINDOWS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "litefuse/kernel.h"

namespace litefuse {

// The windows along one dimension. Each holds one position of the image or more.
struct Windows {
  int64_t ksize = 1, stride = 1;
  int64_t size = 0;    // of the image
  int64_t out = 0;     // how many windows
  int64_t before = 0;  // how many positions before the image the first one begins; negative if it begins inside

  // Whether windows fit. `centered`: SAME also centers windows that are further apart than their size.
  bool Plan(int64_t image_size, bool same, bool centered) {
    size = image_size;
    before = 0;
    if (same) {
      out = (size + stride - 1) / stride;
      const int64_t padded = (out - 1) * stride + ksize - size;
      if (padded > 0 || centered) before = padded / 2;
    } else {
      out = (size - ksize + stride) / stride;
    }
    return out >= 0;
  }

  // The positions of the image in the window `at`: first <= position < last.
  int64_t First(int64_t at) const { return std::max<int64_t>(at * stride - before, 0); }
  int64_t Last(int64_t at) const { return std::min(at * stride - before + ksize, size); }
};

// Reads ksize, strides and padding; `windows` are those along the dimensions first, first + 1...
inline bool ReadWindows(Node& node, const Options& options, size_t rank, size_t first, std::vector<Windows>* windows,
                        bool* same) {
  for (const char* name : {"ksize", "strides"}) {
    std::vector<int32_t> values;
    LITEFUSE_REQUIRE(node, options.Get(name, &values), "the option %s must be a list of integers", name);
    bool valid = values.size() == rank;
    for (size_t axis = 0; valid && axis < rank; ++axis) {
      const bool pooled = axis >= first && axis < first + windows->size();
      valid = pooled ? values[axis] > 0 : values[axis] == 1;
      if (pooled) (name[0] == 'k' ? (*windows)[axis - first].ksize : (*windows)[axis - first].stride) = values[axis];
    }
    std::string form;
    for (size_t axis = 0; axis < rank; ++axis) {
      form += axis > 0 ? ", " : "";
      form += axis >= first && axis < first + windows->size() ? "n" : "1";
    }
    LITEFUSE_REQUIRE(node, valid, "%s must be [%s] with positive numbers, not %s", name, form.c_str(),
                     Text(values).c_str());
  }
  std::string padding;
  LITEFUSE_REQUIRE(node, options.Get("padding", &padding) && (padding == "SAME" || padding == "VALID"),
                   "padding must be SAME or VALID, not '%s'", padding.c_str());
  *same = padding == "SAME";
  return true;
}

// In Prepare: places the windows along the dimensions first, first + 1... of a tensor.
inline bool PlanWindows(Node& node, const Tensor& images, size_t first, bool same, bool centered,
                        std::vector<Windows>* windows) {
  for (size_t axis = 0; axis < windows->size(); ++axis) {
    Windows& along = (*windows)[axis];
    const int size = images.dim(static_cast<int>(first + axis));
    LITEFUSE_REQUIRE(node, along.Plan(size, same, centered),
                     "a window of %lld positions does not fit into %d, and padding is VALID",
                     static_cast<long long>(along.ksize), size);
  }
  return true;
}

}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_POOLING_WINDOWS_H_
