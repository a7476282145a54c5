// Where apps register kernels: what sources add here are the kernels of the library.
#ifndef LITEFUSE_COMPAT_TFLITE_MUTABLE_OP_RESOLVER_H_
#define LITEFUSE_COMPAT_TFLITE_MUTABLE_OP_RESOLVER_H_

#include <list>
#include <string>

#if __has_include("tflite/core/api/op_resolver.h")
#include "tflite/core/api/op_resolver.h"
#else
#include "tensorflow/lite/core/api/op_resolver.h"
#endif

namespace tflite {

// Collects the registrations of custom ops under their names. Those of builtin ops are the runtime's own here.
class MutableOpResolver : public OpResolver {
 public:
  struct Custom {
    std::string name;
    const TfLiteRegistration* given;
    TfLiteRegistration registration;  // a copy: a function may register what stands on its stack
  };

  const TfLiteRegistration* FindOp(BuiltinOperator, int) const override { return nullptr; }
  const TfLiteRegistration* FindOp(const char* op, int version) const override {
    for (const Custom& each : customs_) {
      if (each.name == op && each.registration.version == version) return &each.registration;
    }
    return nullptr;
  }
  void AddBuiltin(BuiltinOperator, const TfLiteRegistration*, int = 1) {}
  void AddBuiltin(BuiltinOperator, const TfLiteRegistration*, int, int) {}
  void AddCustom(const char* name, const TfLiteRegistration* registration, int version = 1) {
    if (registration == nullptr) return;
    customs_.push_back(Custom{name, registration, *registration});
    customs_.back().registration.version = version;
  }
  void AddCustom(const char* name, const TfLiteRegistration* registration, int min_version, int max_version) {
    for (int version = min_version; version <= max_version; ++version) AddCustom(name, registration, version);
  }
  void AddAll(const MutableOpResolver& other) { customs_.insert(customs_.end(), other.customs_.begin(), other.customs_.end()); }

  const std::list<Custom>& customs() const { return customs_; }

 private:
  std::list<Custom> customs_;  // pointers into it stay
};

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_MUTABLE_OP_RESOLVER_H_
