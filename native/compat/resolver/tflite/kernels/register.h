#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_REGISTER_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_REGISTER_H_

#include "tflite/mutable_op_resolver.h"

namespace tflite {
namespace ops {
namespace builtin {

// A resolver to which sources add their kernels; the builtin ops are the runtime's own.
class BuiltinOpResolver : public MutableOpResolver {};
class BuiltinOpResolverWithoutDefaultDelegates : public BuiltinOpResolver {};

}  // namespace builtin
}  // namespace ops
}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_REGISTER_H_
