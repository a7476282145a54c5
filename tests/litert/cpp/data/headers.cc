// Reads flexbuffers, each with its size before it, and products in fixed point, and prints what the headers make of them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "flatbuffers/flexbuffers.h"
#include "tflite/kernels/internal/quantization_util.h"

void Show(flexbuffers::Reference value, int depth) {
  if (value.IsNull()) std::printf("null");
  if (value.IsBool()) std::printf(value.AsBool() ? "True" : "False");
  if (value.IsIntOrUint()) std::printf("%lld", static_cast<long long>(value.AsInt64()));
  if (value.IsFloat()) std::printf("%.17g", value.AsDouble());
  if (value.IsString()) std::printf("'%s'", value.AsString().c_str());
  if (value.IsBlob()) std::printf("<%zu>", value.AsBlob().size());
  if (depth > 5) return;
  const auto list = [depth](const char* begin, const flexbuffers::Vector& items, const char* end) {
    std::printf("%s", begin);
    for (size_t i = 0; i < items.size() && i < 50; ++i) Show(items[i], depth + 1), std::printf(" ");
    std::printf("%s", end);
  };
  if (value.IsUntypedVector()) list("(", value.AsVector(), ")");
  if (value.IsTypedVector()) list("[", value.AsTypedVector(), "]");
  if (value.IsFixedTypedVector()) list("{", value.AsFixedTypedVector(), "}");
  if (!value.IsMap()) return;
  const flexbuffers::Map map = value.AsMap();
  const flexbuffers::TypedVector keys = map.Keys();
  for (size_t i = 0; i < map.size() && i < 50; ++i) {
    std::printf("%s=", keys[i].AsKey());
    Show(map[keys[i].AsKey()], depth + 1);
    std::printf(";");
  }
}

int main() {
  uint32_t size;
  while (std::fread(&size, sizeof(size), 1, stdin) == 1 && size > 0) {
    std::vector<uint8_t> data(size);
    if (std::fread(data.data(), 1, size, stdin) != size) return 1;
    Show(flexbuffers::GetRoot(data.data(), size), 0);
    std::printf("\n");
  }
  struct {
    double real;
    int32_t x;
    int32_t unused;
  } product;
  while (std::fread(&product, sizeof(product), 1, stdin) == 1) {
    int32_t multiplier;
    int shift;
    tflite::QuantizeMultiplier(product.real, &multiplier, &shift);
    std::printf("%d %d %d\n", multiplier, shift, tflite::MultiplyByQuantizedMultiplier(product.x, multiplier, shift));
  }
  return 0;
}
