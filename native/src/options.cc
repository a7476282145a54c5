#include "litefuse/options.h"

#include <cstring>
#include <limits>

#include "litefuse/half.h"

namespace litefuse {
namespace {

// The types of the FlexBuffers specification.
enum Type : uint8_t {
  kInt = 1,
  kUInt = 2,
  kFloat = 3,
  kKey = 4,
  kString = 5,
  kIndirectInt = 6,
  kIndirectUInt = 7,
  kIndirectFloat = 8,
  kMap = 9,
  kVector = 10,
  kVectorInt = 11,
  kVectorKey = 14,
  kVectorString = 15,
  kVectorInt2 = 16,
  kVectorFloat4 = 24,
  kBlob = 25,
  kBool = 26,
  kVectorBool = 36,
};

// Strings may share their bytes, so that all of a vector can take much more than the data.
constexpr size_t kMostText = size_t{1} << 26;

}  // namespace

// `width` is that of the place where the value stands, `own_width` that of what it points at.
struct Options::Value {
  size_t position;
  size_t width;
  size_t own_width;
  uint8_t type;
};

struct Options::Vector {
  size_t position;
  size_t width;
  size_t length;
  uint8_t element_type;  // 0: each element has its own, behind the last element
};

Options::Options(const void* data, size_t size) {
  if (data != nullptr && size > 0) {
    const auto* begin = static_cast<const uint8_t*>(data);
    bytes_.assign(begin, begin + size);
  }
}

bool Options::ReadUnsigned(size_t position, size_t width, uint64_t* value) const {
  if (width == 0 || width > 8 || position > bytes_.size() || bytes_.size() - position < width) return false;
  *value = 0;
  for (size_t i = 0; i < width; ++i) *value |= static_cast<uint64_t>(bytes_[position + i]) << (8 * i);
  return true;
}

// Offsets are the distance backwards from where they stand.
bool Options::Follow(size_t position, size_t width, size_t* target) const {
  uint64_t offset;
  if (!ReadUnsigned(position, width, &offset) || offset > position) return false;
  *target = position - static_cast<size_t>(offset);
  return true;
}

bool Options::AsVector(const Value& value, Vector* vector) const {
  if (value.type >= kVectorInt2 && value.type <= kVectorFloat4) {
    // Two, three or four elements, without a length before them.
    const int kind = value.type - kVectorInt2;
    vector->length = static_cast<size_t>(kind / 3 + 2);
    vector->element_type = static_cast<uint8_t>(kInt + kind % 3);
  } else if (value.type == kMap || value.type == kVector) {
    vector->element_type = 0;
  } else if (value.type >= kVectorInt && value.type <= kVectorString) {
    vector->element_type = static_cast<uint8_t>(value.type - kVectorInt + kInt);
    // How wide the lengths of such strings are, is not stated: they end at their first zero byte, like keys.
    if (value.type == kVectorString) vector->element_type = kKey;
  } else if (value.type == kVectorBool) {
    vector->element_type = kBool;
  } else {
    return false;
  }
  vector->width = value.own_width;
  if (!Follow(value.position, value.width, &vector->position)) return false;
  if (value.type < kVectorInt2 || value.type > kVectorFloat4) {
    uint64_t length;
    if (vector->position < vector->width ||
        !ReadUnsigned(vector->position - vector->width, vector->width, &length) || length > bytes_.size()) {
      return false;
    }
    vector->length = static_cast<size_t>(length);
  }
  const size_t bytes_per_element = vector->width + (vector->element_type == 0 ? 1 : 0);
  return vector->length * bytes_per_element <= bytes_.size() - vector->position;
}

bool Options::Element(const Vector& vector, size_t index, Value* value) const {
  if (index >= vector.length) return false;
  value->position = vector.position + index * vector.width;
  value->width = vector.width;
  if (vector.element_type != 0) {
    value->type = vector.element_type;
    value->own_width = 1;  // keys, and scalars that stand in place
    return true;
  }
  uint64_t packed;
  if (!ReadUnsigned(vector.position + vector.length * vector.width + index, 1, &packed)) return false;
  value->type = static_cast<uint8_t>(packed >> 2);
  value->own_width = size_t{1} << (packed & 3);
  return true;
}

bool Options::Root(Vector* map, Vector* keys) const {
  if (bytes_.size() < 3) return false;
  const size_t width = bytes_.back();
  const uint8_t packed = bytes_[bytes_.size() - 2];
  if ((packed >> 2) != kMap || width == 0 || width > 8 || bytes_.size() < 2 + width) return false;
  const Value root{bytes_.size() - 2 - width, width, size_t{1} << (packed & 3), kMap};
  if (!AsVector(root, map) || map->position < 3 * map->width) return false;
  // Before the map's length stand where its keys are and how wide their offsets are.
  uint64_t key_width;
  if (!ReadUnsigned(map->position - 2 * map->width, map->width, &key_width) || key_width == 0 || key_width > 8) {
    return false;
  }
  const Value place{map->position - 3 * map->width, map->width, static_cast<size_t>(key_width), kVectorKey};
  return AsVector(place, keys) && keys->length == map->length;
}

bool Options::Find(const char* name, Value* value) const {
  Vector map, keys;
  if (!Root(&map, &keys)) return false;
  const size_t size = std::strlen(name) + 1;  // with the zero at its end
  for (size_t i = 0; i < keys.length; ++i) {
    Value key;
    size_t begin;
    if (!Element(keys, i, &key) || key.type != kKey || !Follow(key.position, key.width, &begin)) return false;
    // Without a copy: hostile keys may all be of the size of the data.
    if (bytes_.size() - begin >= size && std::memcmp(bytes_.data() + begin, name, size) == 0) {
      return Element(map, i, value);
    }
  }
  return false;
}

bool Options::AsInteger(const Value& value, int64_t* integer) const {
  size_t position = value.position, width = value.width;
  const bool is_signed = value.type == kInt || value.type == kIndirectInt;
  switch (value.type) {
    case kInt:
    case kUInt:
    case kBool:
      break;
    case kIndirectInt:
    case kIndirectUInt:
      if (!Follow(position, width, &position)) return false;
      width = value.own_width;
      break;
    default:
      return false;
  }
  uint64_t bits;
  if (!ReadUnsigned(position, width, &bits)) return false;
  if (is_signed && width < 8 && (bits >> (8 * width - 1)) != 0) bits |= ~uint64_t{0} << (8 * width);
  if (!is_signed && bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
  std::memcpy(integer, &bits, sizeof(bits));
  return true;
}

bool Options::AsFloat(const Value& value, double* number) const {
  int64_t integer;
  if (AsInteger(value, &integer)) {
    *number = static_cast<double>(integer);
    return true;
  }
  size_t position = value.position, width = value.width;
  if (value.type == kIndirectFloat) {
    if (!Follow(position, width, &position)) return false;
    width = value.own_width;
  } else if (value.type != kFloat) {
    return false;
  }
  uint64_t bits;
  if (!ReadUnsigned(position, width, &bits)) return false;
  if (width == 8) {
    std::memcpy(number, &bits, sizeof(bits));
  } else if (width == 4) {
    const auto low = static_cast<uint32_t>(bits);
    float single;
    std::memcpy(&single, &low, sizeof(low));
    *number = static_cast<double>(single);
  } else if (width == 2) {
    *number = static_cast<double>(static_cast<float>(Float16::FromBits(static_cast<uint16_t>(bits))));
  } else {
    return false;
  }
  return true;
}

bool Options::AsString(const Value& value, std::string* text) const {
  size_t begin;
  uint64_t length;
  if (value.type == kKey) {
    if (!Follow(value.position, value.width, &begin) || begin >= bytes_.size()) return false;
    const void* end = std::memchr(&bytes_[begin], 0, bytes_.size() - begin);
    if (end == nullptr) return false;
    length = static_cast<size_t>(static_cast<const uint8_t*>(end) - &bytes_[begin]);
  } else if (value.type == kString || value.type == kBlob) {
    if (!Follow(value.position, value.width, &begin) || begin < value.own_width ||
        !ReadUnsigned(begin - value.own_width, value.own_width, &length) || length > bytes_.size() - begin) {
      return false;
    }
  } else {
    return false;
  }
  text->assign(bytes_.begin() + static_cast<std::ptrdiff_t>(begin),
               bytes_.begin() + static_cast<std::ptrdiff_t>(begin + length));
  return true;
}

bool Options::Has(const char* name) const {
  Value value;
  return Find(name, &value);
}

bool Options::Get(const char* name, int64_t* value) const {
  Value found;
  return Find(name, &found) && AsInteger(found, value);
}

bool Options::Get(const char* name, int32_t* value) const {
  int64_t wide;
  if (!Get(name, &wide) || wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  *value = static_cast<int32_t>(wide);
  return true;
}

bool Options::Get(const char* name, bool* value) const {
  int64_t integer;
  if (!Get(name, &integer)) return false;
  *value = integer != 0;
  return true;
}

bool Options::Get(const char* name, double* value) const {
  Value found;
  return Find(name, &found) && AsFloat(found, value);
}

bool Options::Get(const char* name, float* value) const {
  double wide;
  if (!Get(name, &wide)) return false;
  *value = static_cast<float>(wide);
  return true;
}

bool Options::Get(const char* name, std::string* value) const {
  Value found;
  return Find(name, &found) && AsString(found, value);
}

bool Options::Get(const char* name, std::vector<int64_t>* value) const {
  Value found;
  Vector vector;
  if (!Find(name, &found) || !AsVector(found, &vector)) return false;
  std::vector<int64_t> read(vector.length);
  for (size_t i = 0; i < vector.length; ++i) {
    Value element;
    if (!Element(vector, i, &element) || !AsInteger(element, &read[i])) return false;
  }
  *value = std::move(read);
  return true;
}

bool Options::Get(const char* name, std::vector<int32_t>* value) const {
  std::vector<int64_t> wide;
  if (!Get(name, &wide)) return false;
  for (const int64_t each : wide) {
    if (each < std::numeric_limits<int32_t>::min() || each > std::numeric_limits<int32_t>::max()) return false;
  }
  value->assign(wide.begin(), wide.end());
  return true;
}

bool Options::Get(const char* name, std::vector<float>* value) const {
  Value found;
  Vector vector;
  if (!Find(name, &found) || !AsVector(found, &vector)) return false;
  std::vector<float> read(vector.length);
  for (size_t i = 0; i < vector.length; ++i) {
    Value element;
    double number;
    if (!Element(vector, i, &element) || !AsFloat(element, &number)) return false;
    read[i] = static_cast<float>(number);
  }
  *value = std::move(read);
  return true;
}

bool Options::Get(const char* name, std::vector<std::string>* value) const {
  Value found;
  Vector vector;
  if (!Find(name, &found) || !AsVector(found, &vector)) return false;
  std::vector<std::string> read(vector.length);
  size_t total = 0;
  for (size_t i = 0; i < vector.length; ++i) {
    Value element;
    if (!Element(vector, i, &element) || !AsString(element, &read[i])) return false;
    total += read[i].size();
    if (total > kMostText) return false;
  }
  *value = std::move(read);
  return true;
}

}  // namespace litefuse
