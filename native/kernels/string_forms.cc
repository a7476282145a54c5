// StringLower, StringUpper, StringStrip, StringLength and Substr: strings in another form, and parts of them.
//
// Definitions: the ops' documentation in TensorFlow (tf.strings). Of StringLower and StringUpper the letters A to Z
// alone: those of Unicode (encoding utf-8) are known to the kernel in Python.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"

namespace {

using litefuse::Continues;
using litefuse::Node;
using litefuse::Options;
using litefuse::Shape;
using litefuse::Tensor;

// Makes a string of each string.
class OfEachString : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override { return litefuse::PrepareForEach(node, kTfLiteString); }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> strings;
    if (!litefuse::ReadStrings(node, "input", node.input(0), &strings)) return false;
    std::vector<std::string> changed;
    changed.reserve(strings.size());
    for (const std::string_view each : strings) changed.push_back(Changed(each));
    return litefuse::WriteStrings(node, 0, node.input(0).shape(), changed);
  }

 protected:
  virtual std::string Changed(std::string_view string) const = 0;
};

class Letters : public OfEachString {
 public:
  bool Configure(Node& node, const Options& options) override {
    std::string encoding;
    options.Get("encoding", &encoding);
    LITEFUSE_REQUIRE(node, encoding.empty(), "encoding '%s': the kernel in C++ knows the letters of ASCII only",
                     encoding.c_str());
    return true;
  }
};

class StringLower : public Letters {
  std::string Changed(std::string_view string) const override {
    std::string changed(string);
    for (char& each : changed) each = each >= 'A' && each <= 'Z' ? static_cast<char>(each + ('a' - 'A')) : each;
    return changed;
  }
};

class StringUpper : public Letters {
  std::string Changed(std::string_view string) const override {
    std::string changed(string);
    for (char& each : changed) each = each >= 'a' && each <= 'z' ? static_cast<char>(each - ('a' - 'A')) : each;
    return changed;
  }
};

class StringStrip : public OfEachString {
  std::string Changed(std::string_view string) const override {
    while (!string.empty() && litefuse::IsSpace(string.front())) string.remove_prefix(1);
    while (!string.empty() && litefuse::IsSpace(string.back())) string.remove_suffix(1);
    return std::string(string);
  }
};

// Whether strings are measured in characters of UTF-8.
bool ReadUnit(Node& node, const Options& options, bool* characters) {
  std::string unit = "BYTE";
  options.Get("unit", &unit);
  LITEFUSE_REQUIRE(node, unit == "BYTE" || unit == "UTF8_CHAR", "unit must be BYTE or UTF8_CHAR, not %s", unit.c_str());
  *characters = unit == "UTF8_CHAR";
  return true;
}

class StringLength : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override { return ReadUnit(node, options, &characters_); }

  bool Prepare(Node& node) override { return litefuse::PrepareForEach(node, kTfLiteInt32); }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> strings;
    if (!litefuse::ReadStrings(node, "input", node.input(0), &strings)) return false;
    int32_t* to = node.output(0).mutable_data<int32_t>();
    for (size_t i = 0; i < strings.size(); ++i) {
      const auto rest = characters_ ? std::count_if(strings[i].begin(), strings[i].end(), Continues) : 0;
      to[i] = static_cast<int32_t>(static_cast<int64_t>(strings[i].size()) - rest);
    }
    return true;
  }

 private:
  bool characters_ = false;
};

class Substr : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override { return ReadUnit(node, options, &characters_); }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(3, 1) || !node.CheckType("input", node.input(0), {kTfLiteString}) ||
        !node.CheckType("pos", node.input(1), {kTfLiteInt32, kTfLiteInt64}) ||
        !node.CheckType("len", node.input(2), {node.input(1).type()}) ||
        !node.CheckType("the output", node.output(0), {kTfLiteString})) {
      return false;
    }
    const Shape pos = node.input(1).shape();
    LITEFUSE_REQUIRE(node, node.input(2).shape() == pos, "pos and len must be of one shape, not %s and %s",
                     litefuse::Text(pos).c_str(), litefuse::Text(node.input(2).shape()).c_str());
    Shape shape;
    return Broadcast(node, &shape) && node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    Shape shape;
    std::vector<std::string_view> strings;
    if (!Broadcast(node, &shape) || !litefuse::ReadStrings(node, "input", node.input(0), &strings)) return false;
    const std::vector<int64_t> pos = node.input(1).integers(), len = node.input(2).integers();
    const std::vector<size_t> of_string = Places(node.input(0).shape(), shape);
    const std::vector<size_t> of_pos = Places(node.input(1).shape(), shape);
    std::vector<std::string> parts(of_string.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!Part(node, strings[of_string[i]], pos[of_pos[i]], len[of_pos[i]], &parts[i])) return false;
    }
    return litefuse::WriteStrings(node, 0, shape, parts);
  }

 private:
  static bool Broadcast(Node& node, Shape* shape) {
    Shape a = node.input(0).shape(), b = node.input(1).shape();
    const size_t rank = std::max(a.size(), b.size());
    a.insert(a.begin(), rank - a.size(), 1);
    b.insert(b.begin(), rank - b.size(), 1);
    for (size_t axis = 0; axis < rank; ++axis) {
      LITEFUSE_REQUIRE(node, a[axis] == b[axis] || a[axis] == 1 || b[axis] == 1, "input %s and pos %s do not broadcast",
                       litefuse::Text(node.input(0).shape()).c_str(), litefuse::Text(node.input(1).shape()).c_str());
      shape->push_back(a[axis] == 1 ? b[axis] : a[axis]);
    }
    return true;
  }

  // For each element of `whole` the place in an array of `shape` that is broadcast to it.
  static std::vector<size_t> Places(Shape shape, const Shape& whole) {
    shape.insert(shape.begin(), whole.size() - shape.size(), 1);
    std::vector<size_t> places{0};
    for (size_t axis = 0; axis < whole.size(); ++axis) {
      std::vector<size_t> next;
      for (const size_t place : places) {
        for (int i = 0; i < whole[axis]; ++i) {
          next.push_back(place * static_cast<size_t>(shape[axis]) + (shape[axis] == 1 ? 0 : static_cast<size_t>(i)));
        }
      }
      places = std::move(next);
    }
    return places;
  }

  bool Part(Node& node, std::string_view string, int64_t pos, int64_t len, std::string* part) const {
    std::vector<size_t> starts;  // of characters, and the end
    const int64_t bytes = static_cast<int64_t>(string.size());
    if (characters_) {
      for (size_t i = 0; i < string.size(); ++i) {
        if (i == 0 || !Continues(string[i])) starts.push_back(i);
      }
      starts.push_back(string.size());
    }
    const int64_t size = characters_ ? static_cast<int64_t>(starts.size()) - 1 : bytes;
    const int64_t begin = pos < 0 ? pos + size : pos;
    LITEFUSE_REQUIRE(node, begin >= 0 && begin <= size, "pos must lie within its string, but %lld is outside of %lld",
                     static_cast<long long>(pos), static_cast<long long>(size));
    LITEFUSE_REQUIRE(node, !characters_ || pos >= 0 || len >= 0, "len must not be negative where pos is");
    const int64_t all = size - begin;
    const int64_t count = len < 0 ? (characters_ ? 0 : all) : std::min(len, all);
    const size_t first = characters_ ? starts[static_cast<size_t>(begin)] : static_cast<size_t>(begin);
    const size_t last = characters_ ? starts[static_cast<size_t>(begin + count)] : static_cast<size_t>(begin + count);
    *part = std::string(string.substr(first, last - first));
    return true;
  }

  bool characters_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(StringLength, StringLength)
LITEFUSE_DEFINE_KERNEL(StringLower, StringLower)
LITEFUSE_DEFINE_KERNEL(StringStrip, StringStrip)
LITEFUSE_DEFINE_KERNEL(StringUpper, StringUpper)
LITEFUSE_DEFINE_KERNEL(Substr, Substr)
