#ifndef LITEFUSE_COMPAT_TFLITE_STRING_TYPE_H_
#define LITEFUSE_COMPAT_TFLITE_STRING_TYPE_H_

#include <string>

namespace tflite {

using std::string;

}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_STRING_TYPE_H_
