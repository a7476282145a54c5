// Kernels in runtimes that show a node in another form than LiteRT's C structs, such as the opaque C interface of newer
// LiteRT (litefuse/operator.h) or LiteRT for Microcontrollers (litefuse/micro.h). A runtime describes its node as a
// `Host`; the kernel sees the structs that it is written for.
//
// This header uses none of these structs: a runtime may have its own of the same names.
#ifndef LITEFUSE_PORTABLE_H_
#define LITEFUSE_PORTABLE_H_

#include <cstddef>
#include <cstdint>

namespace litefuse {
namespace portable {

// A tensor of the runtime. What it points to is read before the next call of the host.
struct TensorView {
  int type = 0;  // a number of TfLiteType
  const char* name = nullptr;
  int rank = 0;
  const int* dims = nullptr;
  void* data = nullptr;  // null while the runtime has given it no memory
  size_t bytes = 0;
  bool is_constant = false;
  bool is_variable = false;
  // How its integers became real numbers: one scale, or one for each slice along `axis`. None if there is no scale.
  const float* scales = nullptr;
  int scale_count = 0;
  const int* zero_points = nullptr;
  int zero_point_count = 0;
  int axis = 0;
};

// Tells the scales of a tensor: a TfLiteAffineQuantization of the runtime's own headers.
template <typename Affine>
void ShowScales(const Affine& affine, TensorView* view) {
  if (affine.scale != nullptr) {
    view->scale_count = affine.scale->size;
    view->scales = affine.scale->data;
  }
  if (affine.zero_point != nullptr) {
    view->zero_point_count = affine.zero_point->size;
    view->zero_points = affine.zero_point->data;
  }
  view->axis = affine.quantized_dimension;
}

// A node of the runtime, for the time of one call.
class Host {
 public:
  virtual int inputs() const = 0;
  virtual int outputs() const = 0;
  // False for an optional input that is absent.
  virtual bool Input(int index, TensorView* view) = 0;
  virtual bool Output(int index, TensorView* view) = 0;
  // Gives an output its shape; `Output` tells its memory afterwards, if it has any by now.
  virtual bool Resize(int output, int rank, const int* dims) = 0;
  // Lets an output get its shape and memory from `Resize` in each `Invoke`; false if the runtime has no such tensors.
  virtual bool MakeDynamic(int output) = 0;
  virtual void Report(const char* message) = 0;
  virtual int threads() const { return 1; }

 protected:
  ~Host() = default;
};

// The kernel of an op among those of this library, for one node; null if there is none, or no memory. The options must
// last as long as the node.
void* Init(const char* op, const char* options, size_t size);
bool Prepare(void* node, Host& host);
bool Invoke(void* node, Host& host);
void Free(void* node);

}  // namespace portable
}  // namespace litefuse

#endif  // LITEFUSE_PORTABLE_H_
