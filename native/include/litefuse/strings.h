// Tensors of strings: reading them with every offset checked, and writing them.
//
// The runtime keeps strings in one buffer: an int32 count, that many and one more int32 offsets from the buffer's start,
// then the bytes (tflite/string_util.h).
#ifndef LITEFUSE_STRINGS_H_
#define LITEFUSE_STRINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/utf8.h"

namespace litefuse {

// The strings of a tensor, which point into its memory.
bool ReadStrings(Node& node, const char* name, const Tensor& tensor, std::vector<std::string_view>* strings);

// The only string of a tensor.
bool ReadString(Node& node, const char* name, const Tensor& tensor, std::string_view* string);

// In Prepare: lets one input of strings pass, and gives the only output, of the given type, its shape.
bool PrepareForEach(Node& node, TfLiteType result);

// In Invoke: gives an output its shape and its strings, one for each element.
bool WriteStrings(Node& node, int output, const Shape& shape, const std::vector<std::string_view>& strings);
bool WriteStrings(Node& node, int output, const Shape& shape, const std::vector<std::string>& strings);

// What C's isspace calls whitespace, whatever the locale.
inline bool IsSpace(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

}  // namespace litefuse

#endif  // LITEFUSE_STRINGS_H_
