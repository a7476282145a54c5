// Tensors of real numbers of any type.
#ifndef LITEFUSE_KERNELS_REAL_TYPES_H_
#define LITEFUSE_KERNELS_REAL_TYPES_H_

#include <type_traits>

#include "litefuse/kernel.h"
#include "numbers.h"

namespace litefuse {

// The type that numbers of type T are compared and interpolated in: float for the 16-bit floats, else T itself.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

// Calls visit(Type<T>()) for the C++ type of the tensor's elements, and returns what that does; false for a type that is
// no real number.
template <typename Visit>
bool VisitReals(TfLiteType type, Visit visit) {
  return VisitFloats(type, visit) || VisitIntegers(type, visit);
}

// In Prepare: whether a tensor is of real numbers.
inline bool CheckReal(Node& node, const char* name, const Tensor& tensor) {
  LITEFUSE_REQUIRE(node, VisitReals(tensor.type(), [](auto) { return true; }), "%s must be of real numbers, not %s",
                   name, TypeName(tensor.type()));
  return true;
}

// In Prepare: whether the output has the type that it must have.
inline bool CheckOutputType(Node& node, int output, TfLiteType type) {
  LITEFUSE_REQUIRE(node, node.output(output).type() == type, "output %d must be %s, not %s", output, TypeName(type),
                   TypeName(node.output(output).type()));
  return true;
}

}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_REAL_TYPES_H_
