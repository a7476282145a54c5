#ifndef LITEFUSE_COMPAT_TFLITE_KERNELS_CUSTOM_OPS_REGISTER_H_
#define LITEFUSE_COMPAT_TFLITE_KERNELS_CUSTOM_OPS_REGISTER_H_

#include "tflite/core/c/common.h"

// The functions that give the registrations of LiteRT's own custom ops; which of them there are, the sources decide.
namespace tflite {
namespace ops {
namespace custom {

TfLiteRegistration* Register_ATAN2();
TfLiteRegistration* Register_AVG_POOL_3D();
TfLiteRegistration* Register_HASHTABLE();
TfLiteRegistration* Register_HASHTABLE_FIND();
TfLiteRegistration* Register_HASHTABLE_IMPORT();
TfLiteRegistration* Register_HASHTABLE_SIZE();
TfLiteRegistration* Register_IRFFT2D();
TfLiteRegistration* Register_MAX_POOL_3D();
TfLiteRegistration* Register_MULTINOMIAL();
TfLiteRegistration* Register_RANDOM_STANDARD_NORMAL();
TfLiteRegistration* Register_RANDOM_UNIFORM();
TfLiteRegistration* Register_RANDOM_UNIFORM_INT();
TfLiteRegistration* Register_ROLL();
TfLiteRegistration* Register_SIGN();
TfLiteRegistration* Register_TABLE();

}  // namespace custom
}  // namespace ops
}  // namespace tflite

#endif  // LITEFUSE_COMPAT_TFLITE_KERNELS_CUSTOM_OPS_REGISTER_H_
