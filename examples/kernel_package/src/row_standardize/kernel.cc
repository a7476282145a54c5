// Each row minus its mean, divided by its standard deviation. EDIT: compute what your function does.
#include <cmath>

#include "litefuse/kernel.h"

namespace {

class RowStandardizeKernel : public litefuse::Kernel {
 public:
  bool Configure(litefuse::Node& node, const litefuse::Options& options) override {
    LITEFUSE_REQUIRE(node, options.Get("epsilon", &epsilon_), "the option epsilon is missing, or is no number");
    return true;
  }

  bool Prepare(litefuse::Node& node) override {
    if (!node.CheckCounts(1, 1) || !node.CheckType("x", node.input(0), {kTfLiteFloat32}) ||
        !node.CheckType("y", node.output(0), {kTfLiteFloat32})) {
      return false;
    }
    LITEFUSE_REQUIRE(node, node.input(0).rank() > 0, "x is a scalar, which has no rows");
    return node.Resize(0, node.input(0).shape());
  }

  bool Invoke(litefuse::Node& node) override {
    const litefuse::Tensor x = node.input(0);
    const float* from = x.data<float>();
    float* to = node.output(0).mutable_data<float>();
    const int size = x.dim(x.rank() - 1);
    for (const float* end = from + x.size(); from != end; from += size, to += size) {
      double sum = 0, squares = 0;
      for (int i = 0; i < size; ++i) sum += from[i];
      const double mean = sum / size;
      for (int i = 0; i < size; ++i) squares += (from[i] - mean) * (from[i] - mean);
      const double deviation = std::sqrt(squares / size) + epsilon_;
      for (int i = 0; i < size; ++i) to[i] = static_cast<float>((from[i] - mean) / deviation);
    }
    return true;
  }

 private:
  double epsilon_ = 0;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(RowStandardize, RowStandardizeKernel)
