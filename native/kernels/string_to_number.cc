// StringToNumber: numbers from their decimal forms.
//
// Definition: the op's documentation in TensorFlow (tf.strings.to_number). A string is checked here, and then read by
// the C library, which rounds to the nearest; where the program has set another locale, that reads the point as it does.

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"

namespace {

using litefuse::Node;

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }
bool IsHexadecimal(char byte) { return std::isxdigit(static_cast<unsigned char>(byte)) != 0; }

std::string_view Stripped(std::string_view text) {
  while (!text.empty() && litefuse::IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && litefuse::IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Digits, of which there may be a point before, among or after, and an exponent behind that `marks` begins.
bool IsFloat(std::string_view text, bool (*is_digit)(char), const char* marks) {
  size_t at = 0, digits = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) ++digits;
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && is_digit(text[at]); ++at) ++digits;
  }
  if (digits == 0) return false;
  if (at == text.size()) return true;
  if (text[at] != marks[0] && text[at] != marks[1]) return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  if (at == text.size()) return false;
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at == text.size();
}

bool EqualLetters(std::string_view text, std::string_view small) {
  if (text.size() != small.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != small[i]) return false;
  }
  return true;
}

// Whether it is what C's strtod calls a number, from the first to the last byte.
bool IsNumber(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    return IsFloat(text.substr(2), IsHexadecimal, "pP");
  }
  if (IsFloat(text, IsDigit, "eE")) return true;
  if (EqualLetters(text, "inf") || EqualLetters(text, "infinity") || EqualLetters(text, "nan")) return true;
  if (text.size() < 5 || !EqualLetters(text.substr(0, 4), "nan(") || text.back() != ')') return false;
  for (const char each : text.substr(4, text.size() - 5)) {
    if (std::isalnum(static_cast<unsigned char>(each)) == 0 && each != '_') return false;
  }
  return true;
}

bool IsInteger(std::string_view text, bool is_signed) {
  if (!text.empty() && (text[0] == '+' || (is_signed && text[0] == '-'))) text.remove_prefix(1);
  for (const char each : text) {
    if (!IsDigit(each)) return false;
  }
  return !text.empty();
}

bool Read(const std::string& text, float* number) {
  *number = std::strtof(text.c_str(), nullptr);
  return IsNumber(text);
}

bool Read(const std::string& text, double* number) {
  *number = std::strtod(text.c_str(), nullptr);
  return IsNumber(text);
}

template <typename T>
bool Read(const std::string& text, T* number) {
  if (!IsInteger(text, std::numeric_limits<T>::is_signed)) return false;
  errno = 0;
  if (std::numeric_limits<T>::is_signed) {
    const long long value = std::strtoll(text.c_str(), nullptr, 10);
    *number = static_cast<T>(value);
    return errno == 0 && static_cast<long long>(*number) == value;
  }
  const unsigned long long value = std::strtoull(text.c_str(), nullptr, 10);
  *number = static_cast<T>(value);
  return errno == 0 && static_cast<unsigned long long>(*number) == value;
}

class StringToNumber : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    return node.CheckCounts(1, 1) && node.CheckType("string_tensor", node.input(0), {kTfLiteString}) &&
           node.CheckType("the output", node.output(0),
                          {kTfLiteFloat32, kTfLiteFloat64, kTfLiteInt32, kTfLiteInt64, kTfLiteUInt32, kTfLiteUInt64}) &&
           node.Resize(0, node.input(0).shape());
  }

  bool Invoke(Node& node) override {
    switch (node.output(0).type()) {
      case kTfLiteFloat32: return ReadAll<float>(node);
      case kTfLiteFloat64: return ReadAll<double>(node);
      case kTfLiteInt32: return ReadAll<int32_t>(node);
      case kTfLiteInt64: return ReadAll<int64_t>(node);
      case kTfLiteUInt32: return ReadAll<uint32_t>(node);
      default: return ReadAll<uint64_t>(node);
    }
  }

 private:
  template <typename T>
  static bool ReadAll(Node& node) {
    std::vector<std::string_view> strings;
    if (!litefuse::ReadStrings(node, "string_tensor", node.input(0), &strings)) return false;
    T* to = node.output(0).mutable_data<T>();
    for (size_t i = 0; i < strings.size(); ++i) {
      const std::string text(Stripped(strings[i]));
      LITEFUSE_REQUIRE(node, text.find('\0') == std::string::npos && Read(text, &to[i]), "'%s' is not a number of %s",
                       text.c_str(), litefuse::TypeName(node.output(0).type()));
    }
    return true;
  }
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(StringToNumber, StringToNumber)
