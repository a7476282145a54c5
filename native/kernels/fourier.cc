// IRFFT and IRFFT2D: inverse Fourier transforms that give real numbers.
//
// input [..., m] or [..., rows, m] of complex64 or complex128, fft_length [1] or [2] of int32 -> [..., *fft_length] of
// float32 or float64. All arithmetic is done in double precision. Definition: the ops' documentation in TensorFlow
// (tf.raw_ops.IRFFT, tf.raw_ops.IRFFT2D).

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <vector>

#include "litefuse/kernel.h"

namespace {

using litefuse::Node;
using litefuse::Shape;
using litefuse::Tensor;

using Complex = std::complex<double>;

constexpr double kPi = 3.14159265358979323846;

// The operator of std::complex looks for infinities, which costs most of the time.
Complex Product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(2 pi i numerator / denominator)
Complex Root(int64_t numerator, int64_t denominator) {
  const double angle = 2 * kPi * static_cast<double>(numerator) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

// The sums over j of x[j] exp(2 pi i j k / n) for all k < n.
//
// By the method of Cooley and Tukey for factors up to kLargestRadix; what is left, by Bluestein's as a convolution.
class Transform {
 public:
  explicit Transform(int64_t n) : n_(n), roots_(static_cast<size_t>(n)) {
    for (int64_t j = 0; j < n; ++j) roots_[static_cast<size_t>(j)] = Root(j, n);
    int64_t rest = n;
    while (const int64_t radix = Radix(rest)) rest /= radix;
    if (rest > 1) PlanConvolution(rest);
  }

  // `from` has a stride; `to` is another array.
  void Run(const Complex* from, int64_t stride, Complex* to) { Run(n_, from, stride, to); }

 private:
  static constexpr int64_t kLargestRadix = 31;

  // The next factor of n to split off; 0 if there is none.
  static int64_t Radix(int64_t n) {
    if (n % 4 == 0) return 4;
    for (int64_t radix = 2; radix <= kLargestRadix; ++radix) {
      if (n % radix == 0) return radix;
    }
    return 0;
  }

  void Run(int64_t n, const Complex* from, int64_t stride, Complex* to) {
    if (n == 1) {
      *to = *from;
      return;
    }
    const int64_t radix = Radix(n);
    if (radix == 0) {
      Convolve(from, stride, to);
      return;
    }
    const int64_t part = n / radix, step = n_ / n;
    for (int64_t r = 0; r < radix; ++r) Run(part, from + r * stride, stride * radix, to + r * part);
    switch (radix) {
      case 2:
        for (int64_t k = 0; k < part; ++k) {
          const Complex a = to[k], b = Product(to[part + k], root(k * step));
          to[k] = a + b;
          to[part + k] = a - b;
        }
        break;
      case 4:
        for (int64_t k = 0; k < part; ++k) {
          const Complex a = to[k], b = Product(to[part + k], root(k * step));
          const Complex c = Product(to[2 * part + k], root(2 * k * step));
          const Complex d = Product(to[3 * part + k], root(3 * k * step));
          const Complex sum = b + d, difference = b - d, turned(-difference.imag(), difference.real());
          to[k] = a + c + sum;
          to[part + k] = a - c + turned;
          to[2 * part + k] = a + c - sum;
          to[3 * part + k] = a - c - turned;
        }
        break;
      default: {
        Complex parts[kLargestRadix];
        for (int64_t k = 0; k < part; ++k) {
          for (int64_t r = 0; r < radix; ++r) parts[r] = Product(to[r * part + k], root(r * k * step));
          for (int64_t q = 0; q < radix; ++q) {
            Complex sum = parts[0];
            for (int64_t r = 1; r < radix; ++r) sum += Product(parts[r], root(r * q % radix * (n_ / radix)));
            to[q * part + k] = sum;
          }
        }
      }
    }
  }

  Complex root(int64_t index) const { return roots_[static_cast<size_t>(index)]; }

  // j k = (j j + k k - (k - j) (k - j)) / 2 makes a convolution with conj(chirp) of the sum, chirp[j] being
  // exp(pi i j j / n).
  void PlanConvolution(int64_t n) {
    int64_t size = 1;
    while (size < 2 * n - 1) size *= 2;
    convolution_ = std::make_unique<Transform>(size);
    chirp_.resize(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j) chirp_[static_cast<size_t>(j)] = Root(j * j % (2 * n), 2 * n);
    work_.assign(static_cast<size_t>(size), Complex(0));
    other_.resize(work_.size());
    kernel_.resize(work_.size());
    for (size_t j = 0; j < chirp_.size(); ++j) {
      work_[j] = work_[(work_.size() - j) % work_.size()] = std::conj(chirp_[j]);
    }
    convolution_->Run(work_.data(), 1, kernel_.data());
  }

  void Convolve(const Complex* from, int64_t stride, Complex* to) {
    std::fill(work_.begin(), work_.end(), Complex(0));
    for (size_t j = 0; j < chirp_.size(); ++j) {
      work_[j] = Product(from[static_cast<int64_t>(j) * stride], chirp_[j]);
    }
    convolution_->Run(work_.data(), 1, other_.data());
    // The way back is the same transform of the conjugates.
    for (size_t j = 0; j < other_.size(); ++j) other_[j] = std::conj(Product(other_[j], kernel_[j]));
    convolution_->Run(other_.data(), 1, work_.data());
    const double scale = 1 / static_cast<double>(work_.size());
    for (size_t k = 0; k < chirp_.size(); ++k) to[k] = Product(std::conj(work_[k]), chirp_[k]) * scale;
  }

  int64_t n_;
  std::vector<Complex> roots_;  // exp(2 pi i j / n)
  std::unique_ptr<Transform> convolution_;
  std::vector<Complex> chirp_, kernel_, work_, other_;
};

// The real numbers of even or odd count n whose Fourier transform begins with the n / 2 + 1 numbers of a spectrum.
class RealTransform {
 public:
  explicit RealTransform(int64_t n)
      : n_(n), complex_(n % 2 == 0 ? n / 2 : n), packed_(static_cast<size_t>(n % 2 == 0 ? n / 2 : n)),
        result_(packed_.size()) {
    if (n % 2 == 0) {
      for (int64_t k = 0; k < n / 2; ++k) roots_.push_back(Root(k, n));
    }
  }

  // Writes n real numbers, times n.
  template <typename R>
  void Run(const Complex* spectrum, double scale, R* to) {
    if (n_ % 2 == 0) {
      // The numbers at even places are the real parts of a transform of half the length, the others the imaginary ones.
      const int64_t half = n_ / 2;
      for (int64_t k = 0; k < half; ++k) {
        const Complex a = k == 0 ? Complex(spectrum[0].real()) : spectrum[k];
        const Complex b = k == 0 ? Complex(spectrum[half].real()) : std::conj(spectrum[half - k]);
        const Complex odd = Product(a - b, roots_[static_cast<size_t>(k)]);
        packed_[static_cast<size_t>(k)] = a + b + Complex(-odd.imag(), odd.real());
      }
      complex_.Run(packed_.data(), 1, result_.data());
      for (int64_t j = 0; j < half; ++j) {
        to[2 * j] = static_cast<R>(result_[static_cast<size_t>(j)].real() * scale);
        to[2 * j + 1] = static_cast<R>(result_[static_cast<size_t>(j)].imag() * scale);
      }
      return;
    }
    packed_[0] = spectrum[0].real();
    for (int64_t k = 1; k <= n_ / 2; ++k) {
      packed_[static_cast<size_t>(k)] = spectrum[k];
      packed_[static_cast<size_t>(n_ - k)] = std::conj(spectrum[k]);
    }
    complex_.Run(packed_.data(), 1, result_.data());
    for (int64_t j = 0; j < n_; ++j) to[j] = static_cast<R>(result_[static_cast<size_t>(j)].real() * scale);
  }

 private:
  int64_t n_;
  Transform complex_;
  std::vector<Complex> packed_, result_, roots_;
};

// The transform along the last `kAxes` dimensions, 1 or 2.
template <int kAxes>
class InverseRealTransform : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 1)) return false;
    const Tensor input = node.input(0), fft_length = node.input(1);
    if (!node.CheckType("input", input, {kTfLiteComplex64, kTfLiteComplex128})) return false;
    LITEFUSE_REQUIRE(node, input.rank() >= kAxes, "input must have %d dimensions or more, not the shape %s", kAxes,
                     litefuse::Text(input.shape()).c_str());
    LITEFUSE_REQUIRE(node, fft_length.type() == kTfLiteInt32 && fft_length.rank() == 1 && fft_length.dim(0) == kAxes,
                     "fft_length must be int32 [%d], not %s %s", kAxes, litefuse::TypeName(fft_length.type()),
                     litefuse::Text(fft_length.shape()).c_str());
    const TfLiteType real = input.type() == kTfLiteComplex64 ? kTfLiteFloat32 : kTfLiteFloat64;
    if (!node.CheckType("the output", node.output(0), {real})) return false;
    if (!fft_length.is_constant()) {
      node.MakeDynamic(0);
      return true;
    }
    Shape shape;
    return OutputShape(node, &shape) && node.Resize(0, shape);
  }

  bool Invoke(Node& node) override {
    if (node.IsDynamic(0)) {
      Shape shape;
      if (!OutputShape(node, &shape) || !node.Resize(0, shape)) return false;
    }
    if (node.output(0).size() == 0) return true;
    if (node.input(0).type() == kTfLiteComplex64) {
      Compute<float>(node);
    } else {
      Compute<double>(node);
    }
    return true;
  }

 private:
  static bool OutputShape(Node& node, Shape* shape) {
    const Tensor input = node.input(0);
    const int32_t* lengths = node.input(1).data<int32_t>();
    *shape = input.shape();
    for (int axis = 0; axis < kAxes; ++axis) {
      const int32_t length = lengths[axis];
      LITEFUSE_REQUIRE(node, length >= 0, "fft_length must not be negative, as %d is", length);
      int& size = (*shape)[shape->size() - kAxes + static_cast<size_t>(axis)];
      const int needed = axis + 1 < kAxes || length == 0 ? length : length / 2 + 1;
      LITEFUSE_REQUIRE(node, size >= needed, "an fft_length of %d needs %d numbers of the spectrum, and input has %d",
                       length, needed, size);
      size = length;
    }
    return true;
  }

  template <typename R>
  void Compute(Node& node) {
    const Tensor input = node.input(0), output = node.output(0);
    const Shape from_shape = input.shape(), to_shape = output.shape();
    const int64_t all_columns = *from_shape.rbegin(), all_rows = kAxes == 2 ? *(from_shape.rbegin() + 1) : 1;
    const int64_t length = *to_shape.rbegin(), rows = kAxes == 2 ? *(to_shape.rbegin() + 1) : 1;
    const int64_t columns = length / 2 + 1, count = output.size() / (length * rows);
    if (along_columns_ == nullptr || length != length_ || rows != rows_) {
      along_rows_ = std::make_unique<RealTransform>(length);
      along_columns_ = std::make_unique<Transform>(rows);
      length_ = length;
      rows_ = rows;
    }
    const double scale = 1 / (static_cast<double>(length) * static_cast<double>(rows));
    std::vector<Complex> spectrum(static_cast<size_t>(rows * columns)), column(static_cast<size_t>(rows));
    const std::complex<R>* from = input.data<std::complex<R>>();
    R* to = output.mutable_data<R>();
    for (int64_t batch = 0; batch < count; ++batch, from += all_rows * all_columns, to += rows * length) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t col = 0; col < columns; ++col) {
          spectrum[static_cast<size_t>(row * columns + col)] = Complex(from[row * all_columns + col]);
        }
      }
      if (rows > 1) {
        for (int64_t col = 0; col < columns; ++col) {
          along_columns_->Run(spectrum.data() + col, columns, column.data());
          for (int64_t row = 0; row < rows; ++row) {
            spectrum[static_cast<size_t>(row * columns + col)] = column[static_cast<size_t>(row)];
          }
        }
      }
      for (int64_t row = 0; row < rows; ++row) {
        along_rows_->Run(spectrum.data() + row * columns, scale, to + row * length);
      }
    }
  }

  int64_t length_ = 0, rows_ = 0;
  std::unique_ptr<RealTransform> along_rows_;
  std::unique_ptr<Transform> along_columns_;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(IRFFT, InverseRealTransform<1>)
LITEFUSE_DEFINE_KERNEL(IRFFT2D, InverseRealTransform<2>)
