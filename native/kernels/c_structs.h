// Options that are C structs: those of MediaPipe's ops, which LiteRT's delegates read too.
#ifndef LITEFUSE_KERNELS_C_STRUCTS_H_
#define LITEFUSE_KERNELS_C_STRUCTS_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "litefuse/kernel.h"

namespace litefuse {

// The options of an op on windows of images: from a TfLitePoolParams or TfLiteTransposeConvParams, or a flexbuffer.
struct WindowOptions {
  std::string padding;
  std::vector<int32_t> strides, pool_size;  // [rows, cols]
  std::string activation = "NONE";
};

// Stores the options' first fields of int32 if they are a struct of that many or more. A flexbuffer is none: it ends
// with a width, which is not 0.
inline bool ReadStruct(const Options& options, size_t least, std::vector<int32_t>* fields) {
  const std::vector<uint8_t>& bytes = options.bytes();
  if (bytes.size() < 4 * least || bytes.size() % 4 != 0 || bytes.back() != 0) return false;
  fields->resize(bytes.size() / 4);
  std::memcpy(fields->data(), bytes.data(), bytes.size());
  return true;
}

inline std::string PaddingName(int32_t padding) {
  return padding == 1 ? "SAME" : padding == 2 ? "VALID" : "number " + std::to_string(padding);
}

// Two positive numbers.
inline bool CheckPair(Node& node, const char* name, const std::vector<int32_t>& values) {
  LITEFUSE_REQUIRE(node, values.size() == 2 && values[0] > 0 && values[1] > 0,
                   "%s must be [rows, cols] with positive numbers, not %s", name, Text(values).c_str());
  return true;
}

// In Configure: reads the options. Those of a pooling have a size of windows.
inline bool ReadWindowOptions(Node& node, const Options& options, bool pooling, WindowOptions* read) {
  std::vector<int32_t> fields;
  const size_t size = options.bytes().size();
  const bool cut = pooling && size > 32 && size < 40;  // once, what the runtime computes was shorter
  if (!cut && ReadStruct(options, pooling ? 5 : 3, &fields)) {
    // Padding, strides of columns and rows; sizes of columns and rows, activation; what the runtime computes.
    read->padding = PaddingName(fields[0]);
    read->strides = {fields[2], fields[1]};
    if (pooling) {
      read->pool_size = {fields[4], fields[3]};
      const int32_t activation = fields.size() > 5 ? fields[5] : 0;
      const char* const names[] = {"NONE", "RELU", "RELU_N1_TO_1", "RELU6"};
      read->activation =
          activation >= 0 && activation < 4 ? names[activation] : "number " + std::to_string(activation);
    }
  } else {
    if (pooling) {
      LITEFUSE_REQUIRE(node, options.Get("pool_size", &read->pool_size) && options.Get("strides", &read->strides),
                       "the options pool_size and strides must be lists of integers");
      options.Get("activation", &read->activation);
    } else {
      LITEFUSE_REQUIRE(node, options.Get("strides", &read->strides),
                       "the option strides must be a list of integers");
    }
    options.Get("padding", &read->padding);
  }
  if (pooling && !CheckPair(node, "pool_size", read->pool_size)) return false;
  if (!CheckPair(node, "strides", read->strides)) return false;
  LITEFUSE_REQUIRE(node, read->padding == "SAME" || read->padding == "VALID", "padding must be SAME or VALID, not '%s'",
                   read->padding.c_str());
  return true;
}

}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_C_STRUCTS_H_
