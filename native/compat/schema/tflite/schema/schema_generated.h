#ifndef LITEFUSE_COMPAT_TFLITE_SCHEMA_SCHEMA_GENERATED_H_
#define LITEFUSE_COMPAT_TFLITE_SCHEMA_SCHEMA_GENERATED_H_

#include <cstdint>

namespace tflite {

// The builtin operators that registrations of custom ops name.
enum BuiltinOperator : int32_t {
  BuiltinOperator_CUSTOM = 32,
  BuiltinOperator_DELEGATE = 51,
  BuiltinOperator_STABLEHLO_COMPOSITE = 206
};

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_SCHEMA_SCHEMA_GENERATED_H_
