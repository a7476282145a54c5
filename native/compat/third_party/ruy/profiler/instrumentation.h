#ifndef LITEFUSE_COMPAT_RUY_PROFILER_INSTRUMENTATION_H_
#define LITEFUSE_COMPAT_RUY_PROFILER_INSTRUMENTATION_H_

namespace ruy {
namespace profiler {

// A label of a scope in profiles, which there are none of here.
class ScopeLabel {
 public:
  template <typename... Arguments>
  explicit ScopeLabel(const Arguments&...) {}
  ~ScopeLabel() {}  // so that a variable of it counts as used
};

}  // namespace profiler
}  // namespace ruy

#endif  // LITEFUSE_COMPAT_RUY_PROFILER_INSTRUMENTATION_H_
