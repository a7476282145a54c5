// The shape of a tensor, as kernels are given it.
#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_RUNTIME_SHAPE_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_RUNTIME_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

#include "tflite/kernels/internal/compatibility.h"

namespace tflite {

// Sizes and strides, the innermost first.
template <int N>
struct Dims {
  int sizes[N];
  int strides[N];
};

// The sizes of a tensor, the outermost first.
class RuntimeShape {
 public:
  RuntimeShape() = default;
  explicit RuntimeShape(int rank) : sizes_(static_cast<size_t>(rank)) {}
  RuntimeShape(int rank, int32_t size) : sizes_(static_cast<size_t>(rank), size) {}
  RuntimeShape(int rank, const int32_t* sizes) : sizes_(sizes, sizes + rank) {}
  RuntimeShape(std::initializer_list<int> sizes) : sizes_(sizes.begin(), sizes.end()) {}

  // The shape with as many sizes of 1 before it as make it of this rank.
  static RuntimeShape ExtendedShape(int rank, const RuntimeShape& shape) {
    TFLITE_CHECK_GE(rank, shape.DimensionsCount());
    RuntimeShape made(rank, 1);
    const size_t added = made.sizes_.size() - shape.sizes_.size();
    for (size_t i = 0; i < shape.sizes_.size(); ++i) made.sizes_[added + i] = shape.sizes_[i];
    return made;
  }

  bool operator==(const RuntimeShape& other) const { return sizes_ == other.sizes_; }
  bool operator!=(const RuntimeShape& other) const { return sizes_ != other.sizes_; }

  int32_t DimensionsCount() const { return static_cast<int32_t>(sizes_.size()); }
  int32_t Dims(int i) const {
    TFLITE_DCHECK(i >= 0 && i < DimensionsCount());
    return sizes_[static_cast<size_t>(i)];
  }
  void SetDim(int i, int32_t size) {
    TFLITE_DCHECK(i >= 0 && i < DimensionsCount());
    sizes_[static_cast<size_t>(i)] = size;
  }
  int32_t* DimsData() { return sizes_.data(); }
  const int32_t* DimsData() const { return sizes_.data(); }
  const int32_t* DimsDataUpTo5D() const { return sizes_.data(); }
  void Resize(int rank) { sizes_.resize(static_cast<size_t>(rank)); }
  void ReplaceWith(int rank, const int32_t* sizes) { sizes_.assign(sizes, sizes + rank); }
  template <typename Sizes>
  void BuildFrom(const Sizes& sizes) {
    sizes_.assign(sizes.begin(), sizes.end());
  }
  void BuildFrom(std::initializer_list<int> sizes) { sizes_.assign(sizes.begin(), sizes.end()); }

  // How many elements there are; an int, as kernels count them.
  int FlatSize() const {
    int count = 1;
    for (const int32_t size : sizes_) count *= size;
    return count;
  }
  bool HasZeroDimension() const {
    for (const int32_t size : sizes_) {
      if (size == 0) return true;
    }
    return false;
  }

  // The product of the sizes in [start, end), where it can be counted and none is negative.
  template <typename Count>
  bool CheckedNumElementsInRange(int start, int end, Count& count) const {
    if (start < 0 || end < start || end > DimensionsCount()) return false;
    return Product(start, end, -1, count);
  }
  template <typename Count>
  bool CheckedSizeToDimension(int end, Count& count) const {
    return CheckedNumElementsInRange(0, end, count);
  }
  template <typename Count>
  bool CheckedSizeFromDimension(int start, Count& count) const {
    return CheckedNumElementsInRange(start, DimensionsCount(), count);
  }
  bool CheckedFlatSize(size_t& count) const { return Product(0, DimensionsCount(), -1, count); }
  bool CheckedFlatSizeSkipDim(int skipped, size_t& count) const {
    return skipped >= 0 && skipped < DimensionsCount() && Product(0, DimensionsCount(), skipped, count);
  }

 private:
  template <typename Count>
  bool Product(int start, int end, int skipped, Count& count) const {
    uint64_t product = 1;
    for (int i = start; i < end; ++i) {
      if (i == skipped) continue;
      const int32_t size = sizes_[static_cast<size_t>(i)];
      if (size < 0 || __builtin_mul_overflow(product, static_cast<uint64_t>(size), &product)) return false;
    }
    if (product > static_cast<uint64_t>(std::numeric_limits<Count>::max())) return false;
    count = static_cast<Count>(product);
    return true;
  }

  std::vector<int32_t> sizes_;
};

// Where an element stands.
inline int Offset(const RuntimeShape& shape, int i0, int i1, int i2, int i3) {
  TFLITE_DCHECK_EQ(shape.DimensionsCount(), 4);
  const int32_t* sizes = shape.DimsData();
  return ((i0 * sizes[1] + i1) * sizes[2] + i2) * sizes[3] + i3;
}
inline int Offset(const RuntimeShape& shape, int i0, int i1, int i2, int i3, int i4) {
  TFLITE_DCHECK_EQ(shape.DimensionsCount(), 5);
  const int32_t* sizes = shape.DimsData();
  return (((i0 * sizes[1] + i1) * sizes[2] + i2) * sizes[3] + i3) * sizes[4] + i4;
}
inline int Offset(const RuntimeShape& shape, int* index) {
  return Offset(shape, index[0], index[1], index[2], index[3]);
}

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_INTERNAL_RUNTIME_SHAPE_H_
