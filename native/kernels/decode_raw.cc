// DecodeRaw and DecodePaddedRaw: the bytes of strings as numbers.
//
// Definition: the ops' documentation in TensorFlow (tf.io.decode_raw). The machine is taken to be little-endian, as
// LiteRT's models are.

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Shape;

// How many bytes a number has.
size_t Width(TfLiteType type) {
  switch (type) {
    case kTfLiteBool:
    case kTfLiteInt8:
    case kTfLiteUInt8: return 1;
    case kTfLiteBFloat16:
    case kTfLiteFloat16:
    case kTfLiteInt16:
    case kTfLiteUInt16: return 2;
    case kTfLiteFloat32:
    case kTfLiteInt32: return 4;
    case kTfLiteComplex128: return 16;
    default: return 8;
  }
}

class Decode : public litefuse::Kernel {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("little_endian", &little_endian_);
    return true;
  }

 protected:
  static bool CheckOutput(Node& node) {
    return node.CheckType("the output", node.output(0),
                          {kTfLiteBool, kTfLiteInt8, kTfLiteUInt8, kTfLiteBFloat16, kTfLiteFloat16, kTfLiteInt16,
                           kTfLiteUInt16, kTfLiteFloat32, kTfLiteInt32, kTfLiteFloat64, kTfLiteInt64,
                           kTfLiteComplex64, kTfLiteComplex128});
  }

  // Writes `size` bytes for each string; what a string lacks is zeros.
  bool Write(Node& node, const std::vector<std::string_view>& strings, size_t size) const {
    const TfLiteType type = node.output(0).type();
    const size_t width = Width(type);
    Shape shape = node.input(0).shape();
    shape.push_back(static_cast<int>(size / width));
    if (node.IsDynamic(0) && !node.Resize(0, shape)) return false;
    if (node.output(0).size() == 0) return true;
    char* to = node.output(0).mutable_data<char>();
    // Each half of a complex number has its own order of bytes.
    const size_t part = type == kTfLiteComplex64 || type == kTfLiteComplex128 ? width / 2 : width;
    for (const std::string_view each : strings) {
      const size_t count = std::min(each.size(), size);
      std::memcpy(to, each.data(), count);
      std::memset(to + count, 0, size - count);
      if (!little_endian_ && part > 1) {
        for (size_t at = 0; at < size; at += part) std::reverse(to + at, to + at + part);
      }
      // A boolean is any byte in TensorFlow, and 0 or 1 in LiteRT.
      if (type == kTfLiteBool) std::transform(to, to + size, to, [](char byte) { return byte != 0 ? 1 : 0; });
      to += size;
    }
    return true;
  }

 private:
  bool little_endian_ = true;
};

class DecodeRaw : public Decode {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(1, 1) || !node.CheckType("bytes", node.input(0), {kTfLiteString}) || !CheckOutput(node)) {
      return false;
    }
    node.MakeDynamic(0);
    return true;
  }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> strings;
    if (!litefuse::ReadStrings(node, "bytes", node.input(0), &strings)) return false;
    const size_t size = strings.empty() ? 0 : strings[0].size(), width = Width(node.output(0).type());
    for (const std::string_view each : strings) {
      LITEFUSE_REQUIRE(node, each.size() == size, "all strings must have one length, not %zu and %zu bytes", size,
                       each.size());
    }
    LITEFUSE_REQUIRE(node, size % width == 0, "%zu bytes are not a whole number of %s", size,
                     litefuse::TypeName(node.output(0).type()));
    return Write(node, strings, size);
  }
};

class DecodePaddedRaw : public Decode {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1) || !node.CheckType("input_bytes", node.input(0), {kTfLiteString}) ||
        !node.CheckType("fixed_length", node.input(1), {kTfLiteInt32}) || !CheckOutput(node)) {
      return false;
    }
    LITEFUSE_REQUIRE(node, node.input(1).size() == 1, "fixed_length must be a scalar");
    if (!node.input(1).is_constant()) {
      node.MakeDynamic(0);
      return true;
    }
    size_t size = 0;
    if (!Size(node, &size)) return false;
    Shape shape = node.input(0).shape();
    shape.push_back(static_cast<int>(size / Width(node.output(0).type())));
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> strings;
    size_t size = 0;
    return litefuse::ReadStrings(node, "input_bytes", node.input(0), &strings) && Size(node, &size) &&
           Write(node, strings, size);
  }

 private:
  static bool Size(Node& node, size_t* size) {
    const int64_t given = node.input(1).integers()[0];
    const int64_t width = static_cast<int64_t>(Width(node.output(0).type()));
    LITEFUSE_REQUIRE(node, given > 0 && given % width == 0,
                     "fixed_length must be a positive multiple of %lld, the width of %s, not %lld",
                     static_cast<long long>(width), litefuse::TypeName(node.output(0).type()),
                     static_cast<long long>(given));
    *size = static_cast<size_t>(given);
    return true;
  }
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(DecodePaddedRaw, DecodePaddedRaw)
LITEFUSE_DEFINE_KERNEL(DecodeRaw, DecodeRaw)
