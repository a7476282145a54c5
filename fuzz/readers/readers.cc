// Calls the readers with bytes from Python. Each call copies them to memory of their size, so that the address sanitizer
// sees a read beyond it.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/options.h"
#include "litefuse/strings.h"
#include "regular_expression.h"

namespace {

template <typename T>
int Got(const litefuse::Options& options, const char* name) {
  T value{};
  return options.Get(name, &value) ? 1 : 0;
}

void Ignore(TfLiteContext*, const char*, ...) {}

}  // namespace

extern "C" {

// How many of the ways to read an option succeed.
__attribute__((visibility("default"))) int fuzz_read_options(const uint8_t* data, size_t size, const char* name) {
  const litefuse::Options options(data, size);  // which copies them
  return (options.Has(name) ? 1 : 0) + Got<bool>(options, name) + Got<int32_t>(options, name) +
         Got<int64_t>(options, name) + Got<float>(options, name) + Got<double>(options, name) +
         Got<std::string>(options, name) + Got<std::vector<int32_t>>(options, name) +
         Got<std::vector<int64_t>>(options, name) + Got<std::vector<float>>(options, name) +
         Got<std::vector<std::string>>(options, name);
}

// The sum of the lengths of the strings that a tensor of `count` strings holds, or -1.
__attribute__((visibility("default"))) int64_t fuzz_read_strings(const uint8_t* data, size_t size, int count) {
  std::vector<char> memory(data, data + size);
  memory.shrink_to_fit();
  int dims[] = {1, count};  // a TfLiteIntArray: its size, then its elements
  TfLiteTensor tensor{};
  tensor.type = kTfLiteString;
  tensor.dims = reinterpret_cast<TfLiteIntArray*>(dims);
  tensor.data.raw = memory.data();
  tensor.bytes = size;
  TfLiteContext context{};
  context.ReportError = Ignore;
  context.tensors = &tensor;
  int none[] = {0};
  TfLiteNode described{};
  described.inputs = described.outputs = reinterpret_cast<TfLiteIntArray*>(none);
  litefuse::Node node("fuzz", &context, &described);
  std::vector<std::string_view> strings;
  if (!litefuse::ReadStrings(node, "input", litefuse::Tensor(&tensor), &strings)) return -1;
  int64_t total = 0;
  for (const std::string_view each : strings) {
    for (const char byte : each) total += byte != 0 ? 1 : 1;
  }
  return total;
}

// Whether an expression matches somewhere in a text, or the whole of it; -1 if it is none.
__attribute__((visibility("default"))) int fuzz_match(const char* pattern, size_t size, const char* text, size_t length,
                                                      int full) {
  const std::vector<char> read(pattern, pattern + size), in(text, text + length);
  litefuse::RegularExpression expression;
  std::string error;
  if (!expression.Read(std::string_view(read.data(), read.size()), &error)) return -1;
  const litefuse::Characters characters(std::string_view(in.data(), in.size()));
  litefuse::RegularExpression::Matcher matcher(expression, characters, full != 0);
  litefuse::RegularExpression::Places places;
  int found = 0;
  // As replacing asks: for what begins where the last match ended, or behind an empty one.
  for (size_t at = 0; at <= characters.size() && matcher.Find(at, &places); ++found) {
    const auto end = static_cast<size_t>(places[1]);
    if (places[0] < 0 || end < at || end > characters.size()) __builtin_trap();
    at = end > at ? end : at + 1;
    if (full != 0) return 1;
  }
  return found > 0 ? 1 : 0;
}

}  // extern "C"
