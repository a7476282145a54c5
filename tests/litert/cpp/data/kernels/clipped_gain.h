#pragma once

#include "tensorflow/lite/mutable_op_resolver.h"

namespace audio {

constexpr char kNegate[] = "Negate";

void AddKernels(tflite::MutableOpResolver* resolver);

}  // namespace audio
