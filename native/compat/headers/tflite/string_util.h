// Tensors of strings.
#ifndef LITEFUSE_COMPAT_TFLITE_STRING_UTIL_H_
#define LITEFUSE_COMPAT_TFLITE_STRING_UTIL_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "tflite/core/c/common.h"

namespace tflite {

constexpr uint64_t kDefaultMaxLength = std::numeric_limits<int>::max();

struct StringRef {
  const char* str;
  size_t len;
};

// How many strings a tensor holds; none if it has no memory.
inline int GetStringCount(const void* buffer) {
  int32_t count = 0;
  if (buffer != nullptr) std::memcpy(&count, buffer, sizeof(count));
  return count;
}
inline int GetStringCount(const TfLiteTensor* tensor) {
  return tensor->bytes < sizeof(int32_t) ? 0 : GetStringCount(static_cast<const void*>(tensor->data.raw));
}

// A string, which points into the buffer.
inline StringRef GetString(const void* buffer, int index) {
  int32_t ends[2];
  std::memcpy(ends, static_cast<const char*>(buffer) + (static_cast<size_t>(index) + 1) * sizeof(int32_t), sizeof(ends));
  return StringRef{static_cast<const char*>(buffer) + ends[0], static_cast<size_t>(ends[1] - ends[0])};
}
// An empty one where the tensor holds none at this place, or one outside of its memory.
inline StringRef GetString(const TfLiteTensor* tensor, int index) {
  const int64_t bytes = static_cast<int64_t>(tensor->bytes), header = (static_cast<int64_t>(index) + 3) * 4;
  if (tensor->data.raw == nullptr || index < 0 || header > bytes || index >= GetStringCount(tensor)) return {"", 0};
  int32_t ends[2];
  std::memcpy(ends, tensor->data.raw + (static_cast<size_t>(index) + 1) * sizeof(int32_t), sizeof(ends));
  if (ends[0] < 0 || ends[1] < ends[0] || ends[1] > bytes) return {"", 0};
  return StringRef{tensor->data.raw + ends[0], static_cast<size_t>(ends[1] - ends[0])};
}

// Gathers strings, and writes them in the form that tensors have: an int32 count, that many and one more int32 offsets
// from the beginning, the bytes.
class DynamicBuffer {
 public:
  explicit DynamicBuffer(size_t max_length = kDefaultMaxLength) : most_(max_length) {}

  TfLiteStatus AddString(const StringRef& string) { return AddString(string.str, string.len); }
  TfLiteStatus AddString(const char* text, size_t length) {
    if (length > most_ || data_.size() >= most_ - length) return kTfLiteError;
    data_.insert(data_.end(), text, text + length);
    ends_.push_back(data_.size());
    return kTfLiteOk;
  }

  // Adds one string of several.
  void AddJoinedString(const std::vector<StringRef>& strings, char separator) {
    AddJoinedString(strings, StringRef{&separator, 1});
  }
  void AddJoinedString(const std::vector<StringRef>& strings, StringRef separator) {
    bool is_first = true;
    for (const StringRef& each : strings) {
      if (!is_first) data_.insert(data_.end(), separator.str, separator.str + separator.len);
      is_first = false;
      data_.insert(data_.end(), each.str, each.str + each.len);
    }
    ends_.push_back(data_.size());
  }

  // Writes them to memory that the caller frees; gives its size, or -1 if there is no memory.
  int WriteToBuffer(char** buffer) {
    const size_t header = sizeof(int32_t) * (ends_.size() + 1);
    const size_t size = header + data_.size();
    *buffer = size > kDefaultMaxLength ? nullptr : static_cast<char*>(malloc(size));
    if (*buffer == nullptr) return -1;
    const auto put = [buffer](size_t place, size_t number) {
      const auto written = static_cast<int32_t>(number);
      std::memcpy(*buffer + place * sizeof(written), &written, sizeof(written));
    };
    put(0, ends_.size() - 1);
    for (size_t i = 0; i < ends_.size(); ++i) put(i + 1, header + ends_[i]);
    if (!data_.empty()) std::memcpy(*buffer + header, data_.data(), data_.size());
    return static_cast<int>(size);
  }

  // Makes them the contents of a tensor, which takes over the shape; null leaves it as it is.
  void WriteToTensor(TfLiteTensor* tensor, TfLiteIntArray* shape) {
    char* buffer;
    const int size = WriteToBuffer(&buffer);
    TfLiteTensorDataFree(tensor);
    tensor->allocation_type = kTfLiteDynamic;
    tensor->data.raw = buffer;
    tensor->bytes = size < 0 ? 0 : static_cast<size_t>(size);
    if (shape == nullptr || shape == tensor->dims) return;
    TfLiteIntArrayFree(tensor->dims);
    tensor->dims = shape;
  }
  void WriteToTensorAsVector(TfLiteTensor* tensor) {
    TfLiteIntArray* shape = TfLiteIntArrayCreate(1);
    shape->data[0] = static_cast<int>(ends_.size() - 1);
    WriteToTensor(tensor, shape);
  }

 private:
  std::vector<char> data_;
  std::vector<size_t> ends_{0};
  size_t most_;
};

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_STRING_UTIL_H_
