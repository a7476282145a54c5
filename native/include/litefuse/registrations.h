// Collects the registrations of sources that know nothing of litefuse, for the table of registry.h.
#ifndef LITEFUSE_REGISTRATIONS_H_
#define LITEFUSE_REGISTRATIONS_H_

#include <list>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "litefuse/registry.h"

namespace litefuse {

class Registrations {
 public:
  // A registration with the name that the op is registered under. Of several versions of an op the first serves, since
  // models have it; of several for one version, the last, as in the runtime's resolver.
  void Add(const std::string& name, const TfLiteRegistration* given, const TfLiteRegistration& registration) {
    named_.insert(given);
    if (name.empty()) return;
    for (Kernel& each : kernels_) {
      if (each.name != name) continue;
      if (registration.version <= each.registration.version) each.registration = registration;
      return;
    }
    kernels_.push_back(Kernel{name, registration});
  }
  void Add(const std::string& name, const TfLiteRegistration* given) {
    if (given != nullptr) Add(name, given, *given);
  }
  void Add(const std::string& name, const TfLiteRegistration& registration) { Add(name, nullptr, registration); }

  // A registration that is named after its function, unless another name was given or it has one itself.
  void AddFunction(const std::string& name, const TfLiteRegistration* given) {
    if (given != nullptr && named_.count(given) == 0) Add(NameOf(name, *given), given, *given);
  }
  void AddFunction(const std::string& name, const TfLiteRegistration& registration) {
    Add(NameOf(name, registration), registration);
  }

  // A name that models call: if no kernel has it, one that has it in other letters serves, such as SIGN for Sign and
  // GridSample for grid_sample.
  void Serve(const std::string& name) {
    const Kernel* other = nullptr;
    for (const Kernel& each : kernels_) {
      if (each.name == name) return;
      if (other == nullptr && Letters(each.name) == Letters(name)) other = &each;
    }
    if (other != nullptr) kernels_.push_back(Kernel{name, other->registration});
  }

  // Those of a resolver, as tflite::MutableOpResolver of native/compat is one.
  template <typename Resolver>
  void AddAll(const Resolver& resolver) {
    for (const auto& each : resolver.customs()) Add(each.name, each.given, each.registration);
  }

  // Those that a class of resolvers adds in its constructor.
  template <typename Resolver>
  void AddResolver() {
    if constexpr (std::is_default_constructible_v<Resolver>) AddAll(Resolver());
  }

  // The table, which ends with an entry without a name. Nothing is added after it was asked for.
  const RegisteredKernel* Table() {
    for (const Kernel& each : kernels_) table_.push_back({each.name.c_str(), nullptr, &each.registration});
    table_.push_back({nullptr, nullptr, nullptr});
    return table_.data();
  }

 private:
  struct Kernel {
    std::string name;
    TfLiteRegistration registration;
  };

  static std::string NameOf(const std::string& name, const TfLiteRegistration& registration) {
    return registration.custom_name != nullptr ? registration.custom_name : name;
  }
  static std::string Letters(const std::string& name) {
    std::string letters;
    for (const char letter : name) {
      if (letter != '_') letters += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return letters;
  }

  std::list<Kernel> kernels_;  // pointers into it stay
  std::set<const void*> named_;
  std::vector<RegisteredKernel> table_;
};

}  // namespace litefuse

#endif  // LITEFUSE_REGISTRATIONS_H_
