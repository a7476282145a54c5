/* The delegate that runs the custom ops and composites that a library has kernels for. */
#ifndef LITEFUSE_DELEGATE_H_
#define LITEFUSE_DELEGATE_H_

#include "litefuse/tflite.h"

#if defined(_WIN32)
#define LITEFUSE_EXPORT __declspec(dllexport)
#else
#define LITEFUSE_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The names of the ops, ended by a null pointer. */
LITEFUSE_EXPORT const char* const* litefuse_kernel_names(void);

/* The interface of LiteRT's external delegates. It takes no options. */
LITEFUSE_EXPORT TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                                              const char* const* options_values, size_t num_options,
                                                              void (*report_error)(const char*));
LITEFUSE_EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate);

#ifdef __cplusplus
}
#endif

#endif /* LITEFUSE_DELEGATE_H_ */
