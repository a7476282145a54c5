// The options of a custom op or composite: a flexbuffer map, read with every offset checked.
#ifndef LITEFUSE_OPTIONS_H_
#define LITEFUSE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace litefuse {

// Reads a flexbuffer map. Data of any other form has no options; nothing outside of `data` is ever read.
//
// Format: the FlexBuffers specification of FlatBuffers (flatbuffers.dev, "FlexBuffers").
class Options {
 public:
  Options(const void* data, size_t size);

  // The bytes themselves, for an op whose options are no flexbuffer.
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  bool Has(const char* name) const;

  // Each stores the option `name` and returns true, or returns false when there is none of that type. A bool is taken
  // for an integer, an integer for a bool and for a float, as TensorFlow's attributes are written in these ways.
  bool Get(const char* name, bool* value) const;
  bool Get(const char* name, int32_t* value) const;
  bool Get(const char* name, int64_t* value) const;
  bool Get(const char* name, float* value) const;
  bool Get(const char* name, double* value) const;
  bool Get(const char* name, std::string* value) const;
  bool Get(const char* name, std::vector<int32_t>* value) const;
  bool Get(const char* name, std::vector<int64_t>* value) const;
  bool Get(const char* name, std::vector<float>* value) const;
  bool Get(const char* name, std::vector<std::string>* value) const;

 private:
  struct Value;   // where a value stands, and its type
  struct Vector;  // where the elements of a vector stand, and their types

  bool Find(const char* name, Value* value) const;
  bool Root(Vector* map, Vector* keys) const;
  bool ReadUnsigned(size_t position, size_t width, uint64_t* value) const;
  bool Follow(size_t position, size_t width, size_t* target) const;
  bool Element(const Vector& vector, size_t index, Value* value) const;
  bool AsVector(const Value& value, Vector* vector) const;
  bool AsInteger(const Value& value, int64_t* integer) const;
  bool AsFloat(const Value& value, double* number) const;
  bool AsString(const Value& value, std::string* text) const;

  std::vector<uint8_t> bytes_;
};

}  // namespace litefuse

#endif  // LITEFUSE_OPTIONS_H_
