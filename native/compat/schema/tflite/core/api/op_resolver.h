#ifndef LITEFUSE_COMPAT_TFLITE_CORE_API_OP_RESOLVER_H_
#define LITEFUSE_COMPAT_TFLITE_CORE_API_OP_RESOLVER_H_

#include <memory>
#include <string>
#include <vector>

#include "litefuse/tflite.h"
#include "tflite/schema/schema_generated.h"

namespace tflite {

// Finds registrations by the names of their ops.
class OpResolver {
 public:
  virtual ~OpResolver() = default;
  virtual const TfLiteRegistration* FindOp(BuiltinOperator op, int version) const = 0;
  virtual const TfLiteRegistration* FindOp(const char* op, int version) const = 0;
};

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_CORE_API_OP_RESOLVER_H_
