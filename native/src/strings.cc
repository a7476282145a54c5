#include "litefuse/strings.h"

#include <cstring>
#include <limits>

namespace litefuse {

namespace {

int32_t IntegerAt(const char* data, size_t index) {
  int32_t value;
  std::memcpy(&value, data + index * sizeof(value), sizeof(value));
  return value;
}

}  // namespace

bool ReadStrings(Node& node, const char* name, const Tensor& tensor, std::vector<std::string_view>* strings) {
  const int64_t count = tensor.size();
  strings->assign(static_cast<size_t>(count), std::string_view());
  const char* data = tensor.data<char>();
  const size_t bytes = tensor.get()->bytes;
  if (data == nullptr || bytes == 0 || count == 0) return true;  // all are empty
  const size_t header = (static_cast<size_t>(count) + 2) * sizeof(int32_t);
  LITEFUSE_REQUIRE(node, bytes >= header && IntegerAt(data, 0) == count, "%s is not a tensor of %lld strings", name,
                   static_cast<long long>(count));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const int64_t begin = IntegerAt(data, i + 1), end = IntegerAt(data, i + 2);
    LITEFUSE_REQUIRE(node, begin >= 0 && begin <= end && static_cast<size_t>(end) <= bytes,
                     "%s has a string outside of its buffer", name);
    (*strings)[i] = std::string_view(data + begin, static_cast<size_t>(end - begin));
  }
  return true;
}

bool ReadString(Node& node, const char* name, const Tensor& tensor, std::string_view* string) {
  LITEFUSE_REQUIRE(node, tensor.size() == 1, "%s must be a scalar, not of shape %s", name,
                   Text(tensor.shape()).c_str());
  std::vector<std::string_view> strings;
  if (!ReadStrings(node, name, tensor, &strings)) return false;
  *string = strings[0];
  return true;
}

bool PrepareForEach(Node& node, TfLiteType result) {
  return node.CheckCounts(1, 1) && node.CheckType("input", node.input(0), {kTfLiteString}) &&
         node.CheckType("the output", node.output(0), {result}) && node.Resize(0, node.input(0).shape());
}

bool WriteStrings(Node& node, int output, const Shape& shape, const std::vector<std::string_view>& strings) {
  size_t end = (strings.size() + 2) * sizeof(int32_t);
  for (const std::string_view each : strings) end += each.size();
  LITEFUSE_REQUIRE(node, end <= static_cast<size_t>(std::numeric_limits<int32_t>::max()),
                   "output %d would hold more than 2 GiB of strings", output);
  std::vector<int32_t> header{static_cast<int32_t>(strings.size())};
  header.reserve(strings.size() + 2);
  end = (strings.size() + 2) * sizeof(int32_t);
  for (const std::string_view each : strings) {
    header.push_back(static_cast<int32_t>(end));
    end += each.size();
  }
  header.push_back(static_cast<int32_t>(end));
  node.MakeDynamic(output);
  TfLiteTensor* tensor = node.output(output).get();
  // The runtime gives strings no memory when it resizes them, since their sizes do not tell how much, and frees that
  // memory itself later. As a tensor of bytes it gets memory that is the runtime's own.
  const TfLiteType type = tensor->type;
  tensor->type = kTfLiteUInt8;
  const bool resized = node.Resize(output, {static_cast<int>(end)});
  tensor->type = type;
  if (!resized) return false;
  char* to = tensor->data.raw;
  std::memcpy(to, header.data(), header.size() * sizeof(int32_t));
  to += header.size() * sizeof(int32_t);
  for (const std::string_view each : strings) {
    if (!each.empty()) std::memcpy(to, each.data(), each.size());
    to += each.size();
  }
  return node.Resize(output, shape);
}

bool WriteStrings(Node& node, int output, const Shape& shape, const std::vector<std::string>& strings) {
  return WriteStrings(node, output, shape, std::vector<std::string_view>(strings.begin(), strings.end()));
}

}  // namespace litefuse
