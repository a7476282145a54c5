/* The kernels of the pack, for apps.
 *
 *   resolver.AddCustom("ExtractImagePatches", litefuse_register_ExtractImagePatches());   // C++
 *   TfLiteInterpreterOptionsAddRegistration...                                            // C, see README.md
 *
 * or all of them at once by the delegate that delegate.h declares. */
#ifndef LITEFUSE_KERNELS_H_
#define LITEFUSE_KERNELS_H_

#include "litefuse/tflite.h"

/* One line for each kernel, named like its op. */
#define LITEFUSE_KERNELS(KERNEL) \
  KERNEL(AvgPool3D) \
  KERNEL(Bincount) \
  KERNEL(Cholesky) \
  KERNEL(Convolution2DTransposeBias) \
  KERNEL(CropAndResize) \
  KERNEL(Cross) \
  KERNEL(Cumprod) \
  KERNEL(DecodePaddedRaw) \
  KERNEL(DecodeRaw) \
  KERNEL(DenseBincount) \
  KERNEL(DenseImageWarp) \
  KERNEL(Erf) \
  KERNEL(ExtractImagePatches) \
  KERNEL(IRFFT) \
  KERNEL(IRFFT2D) \
  KERNEL(Landmarks2TransformMatrix) \
  KERNEL(LinSpace) \
  KERNEL(MatrixDeterminant) \
  KERNEL(MatrixInverse) \
  KERNEL(MatrixSolve) \
  KERNEL(MatrixTriangularSolve) \
  KERNEL(MaxPool3D) \
  KERNEL(MaxPoolWithArgmax) \
  KERNEL(MaxPoolingWithArgmax2D) \
  KERNEL(MaxUnpooling2D) \
  KERNEL(ReduceJoin) \
  KERNEL(Roll) \
  KERNEL(StaticRegexFullMatch) \
  KERNEL(StaticRegexReplace) \
  KERNEL(StringJoin) \
  KERNEL(StringLength) \
  KERNEL(StringLower) \
  KERNEL(StringNGrams) \
  KERNEL(StringSplit) \
  KERNEL(StringSplitV2) \
  KERNEL(StringStrip) \
  KERNEL(StringToHashBucketFast) \
  KERNEL(StringToNumber) \
  KERNEL(StringUpper) \
  KERNEL(Substr) \
  KERNEL(TransformLandmarks) \
  KERNEL(TransformTensorBilinear) \
  KERNEL(UnravelIndex)

#ifdef __cplusplus
extern "C" {
#endif

#define LITEFUSE_DECLARE_KERNEL(name) const TfLiteRegistration* litefuse_register_##name(void);
LITEFUSE_KERNELS(LITEFUSE_DECLARE_KERNEL)
#undef LITEFUSE_DECLARE_KERNEL

#ifdef __cplusplus
}
#endif

#endif /* LITEFUSE_KERNELS_H_ */
