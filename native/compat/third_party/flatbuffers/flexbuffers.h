// Reads options, which are flexbuffers, with every offset checked. Format: the FlexBuffers specification of
// FlatBuffers (flatbuffers.dev, "FlexBuffers").
#ifndef LITEFUSE_COMPAT_FLATBUFFERS_FLEXBUFFERS_H_
#define LITEFUSE_COMPAT_FLATBUFFERS_FLEXBUFFERS_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "litefuse/half.h"

namespace flexbuffers {

enum Type {
  FBT_NULL = 0,
  FBT_INT = 1,
  FBT_UINT = 2,
  FBT_FLOAT = 3,
  FBT_KEY = 4,
  FBT_STRING = 5,
  FBT_INDIRECT_INT = 6,
  FBT_INDIRECT_UINT = 7,
  FBT_INDIRECT_FLOAT = 8,
  FBT_MAP = 9,
  FBT_VECTOR = 10,
  FBT_VECTOR_INT = 11,
  FBT_VECTOR_UINT = 12,
  FBT_VECTOR_FLOAT = 13,
  FBT_VECTOR_KEY = 14,
  FBT_VECTOR_STRING_DEPRECATED = 15,
  FBT_VECTOR_INT2 = 16,
  FBT_VECTOR_FLOAT4 = 24,
  FBT_BLOB = 25,
  FBT_BOOL = 26,
  FBT_VECTOR_BOOL = 36
};

// The bytes, of which nothing beyond the end is read whatever they say.
class Bytes {
 public:
  Bytes() = default;
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(data == nullptr ? 0 : size) {}

  const uint8_t* at(size_t position) const { return data_ + position; }
  size_t size() const { return size_; }
  // An unsigned integer of 1 to 8 bytes.
  bool Read(size_t position, size_t width, uint64_t* value) const {
    *value = 0;
    if (width == 0 || width > 8 || position > size_ || size_ - position < width) return false;
    for (size_t i = 0; i < width; ++i) *value |= static_cast<uint64_t>(data_[position + i]) << (8 * i);
    return true;
  }
  // The place that an offset points back to from where it stands.
  bool Follow(size_t position, size_t width, size_t* target) const {
    uint64_t offset;
    if (!Read(position, width, &offset) || offset > position) return false;
    *target = position - static_cast<size_t>(offset);
    return true;
  }
  // The text from a place to the zero behind it; null if there is none.
  const char* Text(size_t position, size_t length) const {
    if (position >= size_ || length >= size_ - position || data_[position + length] != 0) return nullptr;
    return reinterpret_cast<const char*>(data_ + position);
  }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

class String {
 public:
  String(const char* text, size_t length) : text_(text), length_(length) {}
  const char* c_str() const { return text_; }
  std::string str() const { return std::string(text_, length_); }
  size_t length() const { return length_; }
  size_t size() const { return length_; }
  bool IsTheEmptyString() const { return length_ == 0; }
  const char* operator->() const { return text_; }

 private:
  const char* text_;
  size_t length_;
};

class Blob {
 public:
  Blob(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const uint8_t* data_;
  size_t size_;
};

class Vector;
class TypedVector;
class FixedTypedVector;
class Map;

// A value: where it stands, and its type. What is no value of the form that is asked for is 0, empty or null.
class Reference {
 public:
  Reference() = default;
  // `width` is that of the place where the value stands, `own_width` that of what it points at.
  Reference(Bytes bytes, size_t position, size_t width, size_t own_width, Type type)
      : bytes_(bytes), position_(position), width_(width), own_width_(own_width), type_(type) {}

  Type GetType() const { return type_; }
  bool IsNull() const { return type_ == FBT_NULL; }
  bool IsBool() const { return type_ == FBT_BOOL; }
  bool IsInt() const { return type_ == FBT_INT || type_ == FBT_INDIRECT_INT; }
  bool IsUInt() const { return type_ == FBT_UINT || type_ == FBT_INDIRECT_UINT; }
  bool IsIntOrUint() const { return IsInt() || IsUInt(); }
  bool IsFloat() const { return type_ == FBT_FLOAT || type_ == FBT_INDIRECT_FLOAT; }
  bool IsNumeric() const { return IsIntOrUint() || IsFloat(); }
  bool IsString() const { return type_ == FBT_STRING; }
  bool IsKey() const { return type_ == FBT_KEY; }
  bool IsBlob() const { return type_ == FBT_BLOB; }
  bool IsMap() const { return type_ == FBT_MAP; }
  bool IsUntypedVector() const { return type_ == FBT_VECTOR; }
  bool IsVector() const { return type_ == FBT_VECTOR || type_ == FBT_MAP; }
  bool IsTypedVector() const {
    return (type_ >= FBT_VECTOR_INT && type_ <= FBT_VECTOR_STRING_DEPRECATED) || type_ == FBT_VECTOR_BOOL;
  }
  bool IsFixedTypedVector() const { return type_ >= FBT_VECTOR_INT2 && type_ <= FBT_VECTOR_FLOAT4; }
  bool IsAnyVector() const { return IsVector() || IsTypedVector() || IsFixedTypedVector(); }

  int64_t AsInt64() const;
  uint64_t AsUInt64() const { return IsFloat() ? Cast<uint64_t>(AsDouble()) : static_cast<uint64_t>(AsInt64()); }
  int32_t AsInt32() const { return static_cast<int32_t>(AsInt64()); }
  int16_t AsInt16() const { return static_cast<int16_t>(AsInt64()); }
  int8_t AsInt8() const { return static_cast<int8_t>(AsInt64()); }
  uint32_t AsUInt32() const { return static_cast<uint32_t>(AsUInt64()); }
  uint16_t AsUInt16() const { return static_cast<uint16_t>(AsUInt64()); }
  uint8_t AsUInt8() const { return static_cast<uint8_t>(AsUInt64()); }
  bool AsBool() const { return AsInt64() != 0; }
  double AsDouble() const;
  float AsFloat() const { return static_cast<float>(AsDouble()); }
  String AsString() const;
  std::string ToString() const;
  const char* AsKey() const;
  Blob AsBlob() const;
  Vector AsVector() const;
  TypedVector AsTypedVector() const;
  FixedTypedVector AsFixedTypedVector() const;
  Map AsMap() const;
  template <typename T>
  T As() const {
    if constexpr (std::is_same_v<T, bool>) return AsBool();
    if constexpr (std::is_same_v<T, std::string>) return AsString().str();
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(AsDouble());
    if constexpr (std::is_integral_v<T>) return static_cast<T>(AsInt64());
  }

 private:
  friend class Vector;
  friend class Map;

  template <typename Integer>
  static Integer Cast(double real) {
    if (!(real > static_cast<double>(std::numeric_limits<Integer>::min()))) return std::numeric_limits<Integer>::min();
    if (real >= static_cast<double>(std::numeric_limits<Integer>::max())) return std::numeric_limits<Integer>::max();
    return static_cast<Integer>(real);
  }
  // Whether it is this key; how long it is otherwise does not matter: hostile keys may all be of the size of the data.
  bool IsKeyOf(const char* name) const {
    size_t begin;
    const size_t size = std::strlen(name) + 1;  // with the zero at its end
    return type_ == FBT_KEY && bytes_.Follow(position_, width_, &begin) && bytes_.size() - begin >= size &&
           std::memcmp(bytes_.at(begin), name, size) == 0;
  }
  // Where a scalar stands and of how many bytes it is.
  bool Scalar(size_t* position, size_t* width) const {
    *position = position_;
    *width = width_;
    if (type_ != FBT_INDIRECT_INT && type_ != FBT_INDIRECT_UINT && type_ != FBT_INDIRECT_FLOAT) return true;
    *width = own_width_;
    return bytes_.Follow(position_, width_, position);
  }
  // Where what it points at begins, and the length before that.
  bool Sized(size_t* begin, uint64_t* length) const {
    return bytes_.Follow(position_, width_, begin) && *begin >= own_width_ &&
           bytes_.Read(*begin - own_width_, own_width_, length) && *length <= bytes_.size() - *begin;
  }

  Bytes bytes_;
  size_t position_ = 0;
  size_t width_ = 0;
  size_t own_width_ = 0;
  Type type_ = FBT_NULL;
};

// Elements of one type each, which stands behind the last, or all of one.
class Vector {
 public:
  Vector() = default;
  size_t size() const { return length_; }
  Reference operator[](size_t i) const {
    if (i >= length_) return Reference();
    const size_t position = position_ + i * width_;
    if (type_ != FBT_NULL) return Reference(bytes_, position, width_, 1, type_);
    uint64_t packed;
    if (!bytes_.Read(position_ + length_ * width_ + i, 1, &packed)) return Reference();
    return Reference(bytes_, position, width_, size_t{1} << (packed & 3), static_cast<Type>(packed >> 2));
  }
  bool IsTheEmptyVector() const { return length_ == 0; }

 protected:
  // The elements that a value points at. Without a `length` it stands before them.
  Vector(const Reference& value, Type type, uint64_t length = 0)
      : bytes_(value.bytes_), width_(value.own_width_), type_(type) {
    const bool is_found = length > 0 ? bytes_.Follow(value.position_, value.width_, &position_)
                                     : value.Sized(&position_, &length);
    const size_t bytes_each = width_ + (type == FBT_NULL ? 1 : 0);
    if (is_found && length * bytes_each <= bytes_.size() - position_) length_ = static_cast<size_t>(length);
  }
  friend class Reference;

  Bytes bytes_;
  size_t position_ = 0;
  size_t width_ = 0;
  size_t length_ = 0;
  Type type_ = FBT_NULL;
};

class TypedVector : public Vector {
 public:
  TypedVector() = default;
  Type ElementType() const { return type_; }

 protected:
  using Vector::Vector;
  friend class Map;
  friend class Reference;
};

class FixedTypedVector : public TypedVector {
 public:
  FixedTypedVector() = default;

 private:
  using TypedVector::TypedVector;
  friend class Reference;
};

class Map : public Vector {
 public:
  Map() = default;
  Reference operator[](size_t i) const { return Vector::operator[](i); }
  Reference operator[](int i) const { return i < 0 ? Reference() : Vector::operator[](static_cast<size_t>(i)); }
  Reference operator[](const char* name) const {
    for (size_t i = 0; i < keys_.size() && i < size(); ++i) {
      if (keys_[i].IsKeyOf(name)) return Vector::operator[](i);
    }
    return Reference();
  }
  Reference operator[](const std::string& name) const { return (*this)[name.c_str()]; }
  TypedVector Keys() const { return keys_; }
  Vector Values() const { return *this; }
  bool IsTheEmptyMap() const { return size() == 0; }

 private:
  // Before the length stand the place of the keys, and how wide their offsets are.
  explicit Map(const Reference& value) : Vector(value, FBT_NULL) {
    uint64_t width;
    if (length_ == 0 || position_ < 3 * width_ || !bytes_.Read(position_ - 2 * width_, width_, &width) || width > 8) {
      length_ = 0;
      return;
    }
    const Reference keys(bytes_, position_ - 3 * width_, width_, static_cast<size_t>(width), FBT_VECTOR_KEY);
    keys_ = keys.AsTypedVector();
  }
  friend class Reference;

  TypedVector keys_;
};

inline double Reference::AsDouble() const {
  if (IsString()) {
    char* end;
    const char* text = AsString().c_str();
    const double real = std::strtod(text, &end);
    return *end == 0 ? real : 0;
  }
  if (!IsFloat()) return IsUInt() ? static_cast<double>(AsUInt64()) : static_cast<double>(AsInt64());
  size_t position, width;
  uint64_t bits;
  if (!Scalar(&position, &width) || !bytes_.Read(position, width, &bits)) return 0;
  if (width == 2) return static_cast<float>(litefuse::Float16::FromBits(static_cast<uint16_t>(bits)));
  if (width == 4) {
    float single;
    std::memcpy(&single, bytes_.at(position), sizeof(single));
    return static_cast<double>(single);
  }
  double real = 0;
  if (width == 8) std::memcpy(&real, bytes_.at(position), sizeof(real));
  return real;
}

inline int64_t Reference::AsInt64() const {
  if (IsFloat()) return Cast<int64_t>(AsDouble());
  if (IsString()) {
    char* end;
    const char* text = AsString().c_str();
    const int64_t integer = std::strtoll(text, &end, 10);
    return *end == 0 ? integer : 0;
  }
  if (IsVector()) return static_cast<int64_t>(AsVector().size());
  if (!IsIntOrUint() && !IsBool()) return 0;
  size_t position, width;
  uint64_t bits;
  if (!Scalar(&position, &width) || !bytes_.Read(position, width, &bits)) return 0;
  if (IsInt() && width < 8 && (bits >> (8 * width - 1)) != 0) bits |= ~uint64_t{0} << (8 * width);
  return static_cast<int64_t>(bits);
}

inline String Reference::AsString() const {
  size_t begin;
  uint64_t length;
  if (IsKey()) return String(AsKey(), std::strlen(AsKey()));
  if (!IsString() || !Sized(&begin, &length)) return String("", 0);
  const char* text = bytes_.Text(begin, static_cast<size_t>(length));
  return text == nullptr ? String("", 0) : String(text, static_cast<size_t>(length));
}

inline const char* Reference::AsKey() const {
  size_t begin;
  if (IsString()) return AsString().c_str();
  if (!IsKey() || !bytes_.Follow(position_, width_, &begin) || begin >= bytes_.size()) return "";
  const void* zero = std::memchr(bytes_.at(begin), 0, bytes_.size() - begin);
  return zero == nullptr ? "" : reinterpret_cast<const char*>(bytes_.at(begin));
}

inline Blob Reference::AsBlob() const {
  size_t begin;
  uint64_t length;
  if ((!IsBlob() && !IsString()) || !Sized(&begin, &length)) return Blob(nullptr, 0);
  return Blob(bytes_.at(begin), static_cast<size_t>(length));
}

inline Vector Reference::AsVector() const { return IsVector() ? Vector(*this, FBT_NULL) : Vector(); }

inline TypedVector Reference::AsTypedVector() const {
  if (!IsTypedVector()) return TypedVector();
  if (type_ == FBT_VECTOR_BOOL) return TypedVector(*this, FBT_BOOL);
  // Vectors of strings do not say how wide the lengths are: such elements are read as keys.
  if (type_ == FBT_VECTOR_STRING_DEPRECATED) return TypedVector(*this, FBT_KEY);
  return TypedVector(*this, static_cast<Type>(type_ - FBT_VECTOR_INT + FBT_INT));
}

inline FixedTypedVector Reference::AsFixedTypedVector() const {
  if (!IsFixedTypedVector()) return FixedTypedVector();
  const int kind = type_ - FBT_VECTOR_INT2;  // int, uint, float of 2, then of 3, then of 4 elements
  return FixedTypedVector(*this, static_cast<Type>(FBT_INT + kind % 3), static_cast<uint64_t>(kind / 3 + 2));
}

inline Map Reference::AsMap() const { return IsMap() ? Map(*this) : Map(); }

// A string, boolean or number as text; that of vectors and maps is empty.
inline std::string Reference::ToString() const {
  if (IsString() || IsKey()) return AsString().str();
  if (IsBool()) return AsBool() ? "true" : "false";
  if (IsUInt()) return std::to_string(AsUInt64());
  if (IsInt()) return std::to_string(AsInt64());
  if (!IsFloat()) return IsNull() ? "null" : "";
  const std::string all = std::to_string(AsDouble());
  const size_t last = all.find_last_not_of('0');
  return all.find('.') == std::string::npos ? all : all.substr(0, last + (all[last] == '.' ? 2 : 1));
}

// The value that bytes hold; a null one if they are none.
inline Reference GetRoot(const uint8_t* data, size_t size) {
  const Bytes bytes(data, size);
  if (bytes.size() < 3) return Reference();
  const size_t width = data[size - 1];
  if (width == 0 || width > 8 || size < 2 + width) return Reference();
  const uint8_t packed = data[size - 2];
  return Reference(bytes, size - 2 - width, width, size_t{1} << (packed & 3), static_cast<Type>(packed >> 2));
}
inline Reference GetRoot(const std::vector<uint8_t>& data) { return GetRoot(data.data(), data.size()); }

}  // namespace flexbuffers

#endif  // LITEFUSE_COMPAT_FLATBUFFERS_FLEXBUFFERS_H_
