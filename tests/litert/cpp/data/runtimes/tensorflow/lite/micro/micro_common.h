#include "tensorflow/lite/micro/fake_tflm.h"
