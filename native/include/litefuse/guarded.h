// Exceptions end where C begins: the runtime is not made for them.
#ifndef LITEFUSE_GUARDED_H_
#define LITEFUSE_GUARDED_H_

#include <exception>

namespace litefuse {

// Calls a function that the runtime asked for. What it throws, such as the std::bad_alloc of an allocation that failed,
// goes to `failed` as text, which gives the result in its place. Compiled without exceptions, such an allocation ends
// the process.
template <typename Function, typename Failed>
auto Guarded(Function function, Failed failed) -> decltype(function()) {
#ifdef __cpp_exceptions
  try {
    return function();
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("an exception of an unknown kind");
  }
#else
  (void)failed;
  return function();
#endif
}

}  // namespace litefuse

#endif  // LITEFUSE_GUARDED_H_
