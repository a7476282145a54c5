// Memory of exactly their size for the tensors of a node, in builds with the address sanitizer: in the runtime's arena,
// what lies beyond a tensor is another tensor, and an access to it would pass.
#ifndef LITEFUSE_EXACT_MEMORY_H_
#define LITEFUSE_EXACT_MEMORY_H_

#include "litefuse/tflite.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LITEFUSE_EXACT_MEMORY
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LITEFUSE_EXACT_MEMORY
#endif

#ifdef LITEFUSE_EXACT_MEMORY

#include <cstring>
#include <memory>
#include <vector>

namespace litefuse {

// Puts copies in the places of the tensors' memory, for its own life. Results are copied back. Dynamic tensors have
// memory of their own anyway.
class ExactMemory {
 public:
  // In `Prepare`, only constants have memory; pointers of others may be those of an arena that is gone.
  ExactMemory(TfLiteContext* context, const TfLiteNode& node, bool in_prepare)
      : context_(context), in_prepare_(in_prepare) {
    for (const TfLiteIntArray* each : {node.inputs, node.outputs, node.temporaries}) {
      for (int i = 0; each != nullptr && i < each->size; ++i) Replace(each->data[i]);
    }
  }
  ExactMemory(const ExactMemory&) = delete;
  ExactMemory& operator=(const ExactMemory&) = delete;

  ~ExactMemory() {
    for (Copy& each : copies_) {
      TfLiteTensor& tensor = context_->tensors[each.index];
      if (tensor.data.raw != each.memory.get()) continue;  // it was resized meanwhile
      if (tensor.allocation_type != kTfLiteMmapRo && each.bytes > 0) {
        std::memcpy(each.own, each.memory.get(), each.bytes);
      }
      tensor.data.raw = each.own;
    }
  }

 private:
  struct Copy {
    int index;
    size_t bytes;
    char* own;
    std::unique_ptr<char[]> memory;
  };

  void Replace(int index) {
    if (index < 0) return;
    TfLiteTensor& tensor = context_->tensors[index];
    if (tensor.data.raw == nullptr || tensor.allocation_type == kTfLiteDynamic) return;
    if (in_prepare_ && tensor.allocation_type != kTfLiteMmapRo) return;
    for (const Copy& each : copies_) {
      if (each.index == index) return;
    }
    copies_.push_back({index, tensor.bytes, tensor.data.raw, std::unique_ptr<char[]>(new char[tensor.bytes])});
    if (tensor.bytes > 0) std::memcpy(copies_.back().memory.get(), tensor.data.raw, tensor.bytes);
    tensor.data.raw = copies_.back().memory.get();
  }

  TfLiteContext* context_;
  bool in_prepare_;
  std::vector<Copy> copies_;
};

}  // namespace litefuse

#endif  // LITEFUSE_EXACT_MEMORY

#endif  // LITEFUSE_EXACT_MEMORY_H_
