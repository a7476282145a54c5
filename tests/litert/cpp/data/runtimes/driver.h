// What the tests ask of a runtime: one node of one op, with tensors that Python fills and reads.
#ifndef DRIVER_H_
#define DRIVER_H_

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

struct Tensor {
  int type;
  std::vector<int> dims;  // the rank, then the sizes
  std::vector<char> memory;
  bool is_constant, is_dynamic;
  float scale;
  int zero_point;

  void Resize(const int* sizes, int rank, size_t item) {
    dims.assign(1, rank);
    dims.insert(dims.end(), sizes, sizes + rank);
    size_t bytes = item;
    for (int axis = 0; axis < rank; ++axis) bytes *= static_cast<size_t>(sizes[axis]);
    memory.assign(bytes, 0);
  }
};

inline size_t ItemSize(int type) {
  switch (type) {
    case 1:  // float32
    case 2:  // int32
      return 4;
    case 4:  // int64
      return 8;
    case 9:  // int8
      return 1;
    default:
      return 0;
  }
}

// A node, without what each runtime adds.
struct Driven {
  std::vector<Tensor*> inputs, outputs;  // null where an input is absent
  std::string errors;
  bool in_prepare = false;
  ~Driven() {
    for (Tensor* each : inputs) delete each;
    for (Tensor* each : outputs) delete each;
  }
};

#define EXPORT extern "C" __attribute__((visibility("default")))

Driven* New(const char* op, const char* options, size_t size);
bool Prepare(Driven* node);
bool Invoke(Driven* node);
void Delete(Driven* node);

EXPORT void* driven_new(const char* op, const char* options, size_t size) { return New(op, options, size); }
EXPORT void driven_delete(void* node) { Delete(static_cast<Driven*>(node)); }
EXPORT const char* driven_errors(void* node) { return static_cast<Driven*>(node)->errors.c_str(); }

EXPORT void driven_add(void* node, int is_output, int type, int rank, const int* dims, const void* data, int is_constant,
                       float scale, int zero_point) {
  auto* driven = static_cast<Driven*>(node);
  Tensor* made = nullptr;
  if (type != 0) {
    made = new Tensor{type, {}, {}, is_constant != 0, false, scale, zero_point};
    made->Resize(dims, rank, ItemSize(type));
    if (data != nullptr && !made->memory.empty()) std::memcpy(made->memory.data(), data, made->memory.size());
  }
  (is_output != 0 ? driven->outputs : driven->inputs).push_back(made);
}

EXPORT void driven_resize(void* node, int input, int rank, const int* dims, const void* data) {
  Tensor* tensor = static_cast<Driven*>(node)->inputs[static_cast<size_t>(input)];
  tensor->Resize(dims, rank, ItemSize(tensor->type));
  if (!tensor->memory.empty()) std::memcpy(tensor->memory.data(), data, tensor->memory.size());
}

EXPORT int driven_prepare(void* node) {
  auto* driven = static_cast<Driven*>(node);
  driven->in_prepare = true;
  const bool done = Prepare(driven);
  driven->in_prepare = false;
  return done;
}
EXPORT int driven_invoke(void* node) { return Invoke(static_cast<Driven*>(node)); }

EXPORT const int* driven_dims(void* node, int output) {
  return static_cast<Driven*>(node)->outputs[static_cast<size_t>(output)]->dims.data();
}
EXPORT const void* driven_data(void* node, int output) {
  return static_cast<Driven*>(node)->outputs[static_cast<size_t>(output)]->memory.data();
}

#endif  // DRIVER_H_
