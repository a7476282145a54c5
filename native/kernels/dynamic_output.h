// Outputs whose shape is known in Invoke only.
#ifndef LITEFUSE_KERNELS_DYNAMIC_OUTPUT_H_
#define LITEFUSE_KERNELS_DYNAMIC_OUTPUT_H_

#include <cstdlib>

#include "litefuse/kernel.h"

namespace litefuse {

// In Invoke: gives an output that was made dynamic its shape, which may be empty.
inline bool ResizeDynamic(Node& node, int output, const Shape& shape) {
  if (NumElements(shape) > 0) return node.Resize(output, shape);
  // The runtime gives even an empty tensor some memory, and then finds that its size is wrong when it is read. A tensor
  // of strings gets its dimensions only.
  TfLiteTensor* tensor = node.output(output).get();
  std::free(tensor->data.raw);
  tensor->data.raw = nullptr;
  tensor->bytes = 0;
  const TfLiteType type = tensor->type;
  tensor->type = kTfLiteString;
  const bool resized = node.Resize(output, shape);
  tensor->type = type;
  return resized;
}

}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_DYNAMIC_OUTPUT_H_
