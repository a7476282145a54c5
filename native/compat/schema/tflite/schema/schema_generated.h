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

// Those in which some kernels write their options.
enum Padding : int8_t { Padding_SAME = 0, Padding_VALID = 1 };
enum ActivationFunctionType : int8_t {
  ActivationFunctionType_NONE = 0,
  ActivationFunctionType_RELU = 1,
  ActivationFunctionType_RELU_N1_TO_1 = 2,
  ActivationFunctionType_RELU6 = 3,
  ActivationFunctionType_TANH = 4,
  ActivationFunctionType_SIGN_BIT = 5
};

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_SCHEMA_SCHEMA_GENERATED_H_
