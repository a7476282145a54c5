// MatrixInverse, MatrixDeterminant, MatrixSolve, Cholesky and MatrixTriangularSolve, on batches of matrices.
//
// Matrices [..., n, n] of float16, bfloat16, float32, float64, complex64 or complex128. All arithmetic is done in
// double precision. Definitions: the ops' documentation in TensorFlow (tf.raw_ops).

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "litefuse/kernel.h"
#include "numbers.h"

namespace {

using litefuse::Node;
using litefuse::Options;
using litefuse::Shape;
using litefuse::Tensor;

using Complex = std::complex<double>;

double Conjugate(double value) { return value; }
Complex Conjugate(Complex value) { return std::conj(value); }

// Elements of T as numbers of C, double or Complex, and back.
template <typename T>
struct Elements {
  using C = double;
  static C Load(T value) { return static_cast<double>(static_cast<typename litefuse::Arithmetic<T>::type>(value)); }
  static T Store(C value) { return static_cast<T>(static_cast<typename litefuse::Arithmetic<T>::type>(value)); }
};
template <typename R>
struct Elements<std::complex<R>> {
  using C = Complex;
  static C Load(std::complex<R> value) { return C(value); }
  static std::complex<R> Store(C value) { return std::complex<R>(value); }
};

// Calls visit(litefuse::Type<T>()) for the type of a tensor that CheckMatrices has seen.
template <typename Visit>
bool VisitElements(TfLiteType type, Visit visit) {
  return litefuse::VisitFloats(type, visit) || litefuse::VisitComplex(type, visit);
}

bool CheckMatrices(Node& node, const char* name, const Tensor& matrices, const Tensor& result) {
  if (!node.CheckType(name, matrices,
                      {kTfLiteFloat16, kTfLiteBFloat16, kTfLiteFloat32, kTfLiteFloat64, kTfLiteComplex64,
                       kTfLiteComplex128})) {
    return false;
  }
  const int rank = matrices.rank();
  LITEFUSE_REQUIRE(node, rank >= 2 && matrices.dim(rank - 1) == matrices.dim(rank - 2),
                   "%s must be square matrices [..., n, n], not %s", name, litefuse::Text(matrices.shape()).c_str());
  return node.CheckType("the output", result, {matrices.type()});
}

// How many matrices there are; the last two dimensions may be 0.
int64_t CountBatches(const Shape& shape) {
  return litefuse::NumElements(Shape(shape.begin(), shape.end() - 2));
}

// Reads a matrix of n rows, or its conjugate transpose.
template <typename T, typename C>
void LoadSquare(const T* from, int64_t n, bool adjoint, std::vector<C>* to) {
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t col = 0; col < n; ++col) {
      (*to)[static_cast<size_t>(row * n + col)] = adjoint ? Conjugate(Elements<T>::Load(from[col * n + row]))
                                                          : Elements<T>::Load(from[row * n + col]);
    }
  }
}

// Factors a matrix of n rows in place: L without its diagonal of ones below the diagonal, U on and above it, with L * U
// the rows of the matrix in the order `rows`. Returns false if there is a pivot of 0.
template <typename C>
bool FactorLU(C* matrix, int64_t n, std::vector<int64_t>* rows, bool* odd) {
  *odd = false;
  for (int64_t row = 0; row < n; ++row) (*rows)[static_cast<size_t>(row)] = row;
  for (int64_t step = 0; step < n; ++step) {
    int64_t pivot = step;
    double largest = std::abs(matrix[step * n + step]);
    for (int64_t row = step + 1; row < n; ++row) {
      const double size = std::abs(matrix[row * n + step]);
      if (!(size <= largest)) {  // NaN is taken too, and is found in the result
        pivot = row;
        largest = size;
      }
    }
    if (largest == 0) return false;
    if (pivot != step) {
      std::swap_ranges(matrix + step * n, matrix + (step + 1) * n, matrix + pivot * n);
      std::swap((*rows)[static_cast<size_t>(step)], (*rows)[static_cast<size_t>(pivot)]);
      *odd = !*odd;
    }
    const C* upper = matrix + step * n;
    for (int64_t row = step + 1; row < n; ++row) {
      C* lower = matrix + row * n;
      const C factor = lower[step] / upper[step];
      lower[step] = factor;
      for (int64_t col = step + 1; col < n; ++col) lower[col] -= factor * upper[col];
    }
  }
  return true;
}

// to -= factor * from, for a row of `size` numbers.
template <typename C>
void SubtractRow(C* to, const C* from, C factor, int64_t size) {
  for (int64_t i = 0; i < size; ++i) to[i] -= factor * from[i];
}

// Solves systems of a triangular matrix of n rows in place, one row of x after the other, from the corner of the
// triangle on. With `ones`, the diagonal counts as ones.
template <typename C>
void SolveTriangle(const C* matrix, int64_t n, bool lower, bool ones, C* x, int64_t columns) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t row = lower ? step : n - 1 - step;
    const int64_t first = lower ? 0 : row + 1, last = lower ? row : n;
    C* solved = x + row * columns;
    for (int64_t k = first; k < last; ++k) SubtractRow(solved, x + k * columns, matrix[row * n + k], columns);
    if (ones) continue;
    const C pivot = matrix[row * n + row];
    for (int64_t col = 0; col < columns; ++col) solved[col] /= pivot;
  }
}

// Solves systems of a matrix that FactorLU has factored, in place; the right-hand sides in the order of its rows.
template <typename C>
void SolveFactored(const std::vector<C>& lu, int64_t n, std::vector<C>* x, int64_t columns) {
  SolveTriangle(lu.data(), n, /*lower=*/true, /*ones=*/true, x->data(), columns);
  SolveTriangle(lu.data(), n, /*lower=*/false, /*ones=*/false, x->data(), columns);
}

class MatrixInverse : public litefuse::Kernel {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("adjoint", &adjoint_);
    return true;
  }

  bool Prepare(Node& node) override {
    return node.CheckCounts(1, 1) && CheckMatrices(node, "input", node.input(0), node.output(0)) &&
           node.Resize(0, node.input(0).shape());
  }

  bool Invoke(Node& node) override {
    return VisitElements(node.input(0).type(), [&](auto type) { return Invert<typename decltype(type)::type>(node); });
  }

 private:
  template <typename T>
  bool Invert(Node& node) {
    using C = typename Elements<T>::C;
    const Tensor matrices = node.input(0);
    if (matrices.size() == 0) return true;
    const int64_t n = matrices.dim(matrices.rank() - 1), count = CountBatches(matrices.shape());
    std::vector<C> lu(static_cast<size_t>(n * n)), inverse(lu.size());
    std::vector<int64_t> rows(static_cast<size_t>(n));
    const T* from = matrices.data<T>();
    T* to = node.output(0).mutable_data<T>();
    for (int64_t batch = 0; batch < count; ++batch, from += n * n, to += n * n) {
      LoadSquare(from, n, adjoint_, &lu);
      bool odd;
      LITEFUSE_REQUIRE(node, FactorLU(lu.data(), n, &rows, &odd), "a matrix is singular: it has no inverse");
      // L * U * inverse is the identity, its rows in the order of the pivots.
      std::fill(inverse.begin(), inverse.end(), C(0));
      for (int64_t row = 0; row < n; ++row) {
        inverse[static_cast<size_t>(row * n + rows[static_cast<size_t>(row)])] = C(1);
      }
      SolveFactored(lu, n, &inverse, n);
      for (int64_t i = 0; i < n * n; ++i) to[i] = Elements<T>::Store(inverse[static_cast<size_t>(i)]);
    }
    return true;
  }

  bool adjoint_ = false;
};

class MatrixSolve : public litefuse::Kernel {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("adjoint", &adjoint_);
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1) || !CheckMatrices(node, "matrix", node.input(0), node.output(0))) return false;
    const Tensor matrix = node.input(0), rhs = node.input(1);
    if (!node.CheckType("rhs", rhs, {matrix.type()})) return false;
    Shape expected = matrix.shape();
    if (rhs.rank() == matrix.rank()) expected.back() = rhs.dim(rhs.rank() - 1);
    LITEFUSE_REQUIRE(node, rhs.shape() == expected, "rhs must be [..., %d, k] of the batch of a matrix %s, not %s",
                     matrix.dim(matrix.rank() - 1), litefuse::Text(matrix.shape()).c_str(),
                     litefuse::Text(rhs.shape()).c_str());
    return node.Resize(0, rhs.shape());
  }

  bool Invoke(Node& node) override {
    return VisitElements(node.input(0).type(), [&](auto type) { return Solve<typename decltype(type)::type>(node); });
  }

 private:
  template <typename T>
  bool Solve(Node& node) {
    using C = typename Elements<T>::C;
    const Tensor solution = node.output(0);
    if (solution.size() == 0) return true;
    const Shape shape = solution.shape();
    const int64_t n = shape[shape.size() - 2], columns = shape.back(), count = CountBatches(shape);
    std::vector<C> lu(static_cast<size_t>(n * n)), x(static_cast<size_t>(n * columns));
    std::vector<int64_t> rows(static_cast<size_t>(n));
    const T* matrix = node.input(0).data<T>();
    const T* rhs = node.input(1).data<T>();
    T* to = solution.mutable_data<T>();
    for (int64_t batch = 0; batch < count; ++batch) {
      LoadSquare(matrix + batch * n * n, n, adjoint_, &lu);
      bool odd;
      LITEFUSE_REQUIRE(node, FactorLU(lu.data(), n, &rows, &odd), "a matrix is singular: its system cannot be solved");
      // L * U * x is the right-hand side, its rows in the order of the pivots.
      for (int64_t row = 0; row < n; ++row) {
        const T* from = rhs + (batch * n + rows[static_cast<size_t>(row)]) * columns;
        C* to_solve = x.data() + row * columns;
        for (int64_t col = 0; col < columns; ++col) to_solve[col] = Elements<T>::Load(from[col]);
      }
      SolveFactored(lu, n, &x, columns);
      for (int64_t i = 0; i < n * columns; ++i, ++to) *to = Elements<T>::Store(x[static_cast<size_t>(i)]);
    }
    return true;
  }

  bool adjoint_ = false;
};

class MatrixDeterminant : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(1, 1) || !CheckMatrices(node, "input", node.input(0), node.output(0))) return false;
    const Shape shape = node.input(0).shape();
    return node.Resize(0, Shape(shape.begin(), shape.end() - 2));
  }

  bool Invoke(Node& node) override {
    return VisitElements(node.input(0).type(),
                         [&](auto type) { return Determinants<typename decltype(type)::type>(node); });
  }

 private:
  template <typename T>
  bool Determinants(Node& node) {
    using C = typename Elements<T>::C;
    const Tensor matrices = node.input(0);
    if (node.output(0).size() == 0) return true;
    const int64_t n = matrices.dim(matrices.rank() - 1), count = CountBatches(matrices.shape());
    std::vector<C> lu(static_cast<size_t>(n * n));
    std::vector<int64_t> rows(static_cast<size_t>(n));
    const T* from = matrices.data<T>();
    T* to = node.output(0).mutable_data<T>();
    for (int64_t batch = 0; batch < count; ++batch, from += n * n) {
      LoadSquare(from, n, false, &lu);
      bool odd;
      C product(0);
      if (FactorLU(lu.data(), n, &rows, &odd)) {
        // The exponent is kept apart: the product of some pivots may be out of range though that of all is not.
        int exponent = 0;
        product = C(odd ? -1 : 1);
        for (int64_t step = 0; step < n; ++step) {
          const C pivot = lu[static_cast<size_t>(step * n + step)];
          const double size = std::abs(pivot);
          const int of_pivot = std::isfinite(size) ? std::ilogb(size) : 0;
          product *= pivot * std::ldexp(1.0, -of_pivot);
          exponent += of_pivot;
          const double of_product = std::abs(product);
          if (std::isfinite(of_product) && of_product > 0) {
            const int excess = std::ilogb(of_product);
            product *= std::ldexp(1.0, -excess);
            exponent += excess;
          }
        }
        product = Scaled(product, exponent);
      }
      to[batch] = Elements<T>::Store(product);
    }
    return true;
  }

  static double Scaled(double value, int exponent) { return std::ldexp(value, exponent); }
  static Complex Scaled(Complex value, int exponent) {
    return {std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent)};
  }
};

class Cholesky : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    return node.CheckCounts(1, 1) && CheckMatrices(node, "input", node.input(0), node.output(0)) &&
           node.Resize(0, node.input(0).shape());
  }

  bool Invoke(Node& node) override {
    return VisitElements(node.input(0).type(), [&](auto type) { return Factors<typename decltype(type)::type>(node); });
  }

 private:
  template <typename T>
  bool Factors(Node& node) {
    using C = typename Elements<T>::C;
    const Tensor matrices = node.input(0);
    if (matrices.size() == 0) return true;
    const int64_t n = matrices.dim(matrices.rank() - 1), count = CountBatches(matrices.shape());
    std::vector<C> factor(static_cast<size_t>(n * n));
    const T* from = matrices.data<T>();
    T* to = node.output(0).mutable_data<T>();
    for (int64_t batch = 0; batch < count; ++batch, from += n * n, to += n * n) {
      LoadSquare(from, n, false, &factor);
      const bool definite = Factor(factor.data(), n);
      for (int64_t row = 0; row < n; ++row) {
        for (int64_t col = 0; col < n; ++col) {
          C value = factor[static_cast<size_t>(row * n + col)];
          if (col > row) {
            value = C(0);
          } else if (!definite) {
            value = C(std::numeric_limits<double>::quiet_NaN());
          }
          to[row * n + col] = Elements<T>::Store(value);
        }
      }
    }
    return true;
  }

  // In place; false if the matrix is not positive definite. Reads and writes the lower triangle only.
  template <typename C>
  static bool Factor(C* matrix, int64_t n) {
    for (int64_t row = 0; row < n; ++row) {
      C* of_row = matrix + row * n;
      for (int64_t col = 0; col < row; ++col) {
        const C* of_col = matrix + col * n;
        C sum = of_row[col];
        for (int64_t k = 0; k < col; ++k) sum -= of_row[k] * Conjugate(of_col[k]);
        of_row[col] = sum / of_col[col];
      }
      double square = std::real(of_row[row]);
      for (int64_t k = 0; k < row; ++k) square -= std::norm(of_row[k]);
      if (!(square > 0)) return false;
      of_row[row] = C(std::sqrt(square));
    }
    return true;
  }
};

class MatrixTriangularSolve : public litefuse::Kernel {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("lower", &lower_);
    options.Get("adjoint", &adjoint_);
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1) || !CheckMatrices(node, "matrix", node.input(0), node.output(0))) return false;
    const Tensor matrix = node.input(0), rhs = node.input(1);
    if (!node.CheckType("rhs", rhs, {matrix.type()})) return false;
    const Shape of_matrix = matrix.shape(), of_rhs = rhs.shape();
    const int n = of_matrix.back();
    LITEFUSE_REQUIRE(node, of_rhs.size() >= 2 && of_rhs[of_rhs.size() - 2] == n,
                     "rhs must be [..., %d, k] for a matrix %s, not %s", n, litefuse::Text(of_matrix).c_str(),
                     litefuse::Text(of_rhs).c_str());
    // The batches, aligned at their ends. A stride of 0 repeats what there is once.
    const size_t rank = std::max(of_matrix.size(), of_rhs.size());
    Shape shape(rank);
    shape[rank - 2] = n;
    shape[rank - 1] = of_rhs.back();
    matrix_strides_.assign(rank - 2, 0);
    rhs_strides_.assign(rank - 2, 0);
    int64_t matrix_stride = 1, rhs_stride = 1;
    for (size_t back = 3; back <= rank; ++back) {
      const int left = back <= of_matrix.size() ? of_matrix[of_matrix.size() - back] : 1;
      const int right = back <= of_rhs.size() ? of_rhs[of_rhs.size() - back] : 1;
      LITEFUSE_REQUIRE(node, left == right || left == 1 || right == 1,
                       "the batches of matrix %s and rhs %s do not broadcast", litefuse::Text(of_matrix).c_str(),
                       litefuse::Text(of_rhs).c_str());
      shape[rank - back] = left == 1 ? right : left;
      matrix_strides_[rank - back] = left == 1 ? 0 : matrix_stride;
      rhs_strides_[rank - back] = right == 1 ? 0 : rhs_stride;
      matrix_stride *= left;
      rhs_stride *= right;
    }
    return node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    return VisitElements(node.input(0).type(), [&](auto type) { return Solve<typename decltype(type)::type>(node); });
  }

 private:
  template <typename T>
  bool Solve(Node& node) {
    using C = typename Elements<T>::C;
    const Tensor solution = node.output(0);
    if (solution.size() == 0) return true;
    const Shape shape = solution.shape();
    const int64_t n = shape[shape.size() - 2], columns = shape.back(), count = CountBatches(shape);
    std::vector<C> matrix(static_cast<size_t>(n * n)), x(static_cast<size_t>(n * columns));
    T* to = solution.mutable_data<T>();
    for (int64_t batch = 0; batch < count; ++batch, to += n * columns) {
      int64_t of_matrix = 0, of_rhs = 0, rest = batch;
      for (size_t axis = matrix_strides_.size(); axis-- > 0; rest /= shape[axis]) {
        of_matrix += rest % shape[axis] * matrix_strides_[axis];
        of_rhs += rest % shape[axis] * rhs_strides_[axis];
      }
      LoadSquare(node.input(0).data<T>() + of_matrix * n * n, n, adjoint_, &matrix);
      const T* rhs = node.input(1).data<T>() + of_rhs * n * columns;
      for (int64_t i = 0; i < n * columns; ++i) x[static_cast<size_t>(i)] = Elements<T>::Load(rhs[i]);
      SolveTriangle(matrix.data(), n, /*lower=*/lower_ != adjoint_, /*ones=*/false, x.data(), columns);
      for (int64_t i = 0; i < n * columns; ++i) to[i] = Elements<T>::Store(x[static_cast<size_t>(i)]);
    }
    return true;
  }

  bool lower_ = true, adjoint_ = false;
  std::vector<int64_t> matrix_strides_, rhs_strides_;  // of each batch dimension of the output, in matrices
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(Cholesky, Cholesky)
LITEFUSE_DEFINE_KERNEL(MatrixDeterminant, MatrixDeterminant)
LITEFUSE_DEFINE_KERNEL(MatrixInverse, MatrixInverse)
LITEFUSE_DEFINE_KERNEL(MatrixSolve, MatrixSolve)
LITEFUSE_DEFINE_KERNEL(MatrixTriangularSolve, MatrixTriangularSolve)
