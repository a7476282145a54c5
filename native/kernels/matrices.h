// The 4 x 4 matrices of MediaPipe's ops on landmarks and crops.
#ifndef LITEFUSE_KERNELS_MATRICES_H_
#define LITEFUSE_KERNELS_MATRICES_H_

#include "litefuse/kernel.h"

namespace litefuse {

// In Prepare: whether an input is one 4 x 4 matrix of float32, or one for each of a batch.
inline bool CheckMatrices(Node& node, const Tensor& matrix, int batch) {
  LITEFUSE_REQUIRE(node,
                   matrix.type() == kTfLiteFloat32 &&
                       (matrix.size() == 16 || matrix.size() == 16 * static_cast<int64_t>(batch)),
                   "the matrix must be of 16 numbers of float32, or so many for each of %d; it is %s %s", batch,
                   TypeName(matrix.type()), Text(matrix.shape()).c_str());
  return true;
}

// The matrix of one of the batch.
inline const float* MatrixOf(const Tensor& matrices, int64_t number) {
  return matrices.data<float>() + (matrices.size() > 16 ? number * 16 : 0);
}

}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_MATRICES_H_
