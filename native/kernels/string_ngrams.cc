// StringNGrams: neighbours in the rows of a ragged tensor, joined.
//
// Definition: the op's documentation in TensorFlow (tf.strings.ngrams).

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"

namespace {

using litefuse::Node;
using litefuse::Options;

class StringNGrams : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    options.Get("separator", &separator_);
    options.Get("left_pad", &left_pad_);
    options.Get("right_pad", &right_pad_);
    options.Get("pad_width", &pad_width_);
    options.Get("preserve_short_sequences", &preserve_);
    options.Get("ngram_widths", &widths_);
    for (const int64_t width : widths_) {
      LITEFUSE_REQUIRE(node, width >= 1, "ngram_widths must be positive, not %lld", static_cast<long long>(width));
    }
    LITEFUSE_REQUIRE(node, pad_width_ >= -1, "pad_width must be -1 or more, not %lld", static_cast<long long>(pad_width_));
    return true;
  }

  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 2) || !node.CheckType("data", node.input(0), {kTfLiteString}) ||
        !node.CheckRank("data", node.input(0), 1) ||
        !node.CheckType("data_splits", node.input(1), {kTfLiteInt32, kTfLiteInt64}) ||
        !node.CheckRank("data_splits", node.input(1), 1) ||
        !node.CheckType("output 0", node.output(0), {kTfLiteString}) ||
        !node.CheckType("output 1", node.output(1), {node.input(1).type()})) {
      return false;
    }
    LITEFUSE_REQUIRE(node, node.input(1).dim(0) >= 1, "data_splits must have one element or more");
    node.MakeDynamic(0);
    return node.Resize(1, node.input(1).shape());
  }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> data;
    if (!litefuse::ReadStrings(node, "data", node.input(0), &data)) return false;
    const std::vector<int64_t> splits = node.input(1).integers();
    LITEFUSE_REQUIRE(node, splits.front() == 0 && splits.back() == static_cast<int64_t>(data.size()) &&
                               std::is_sorted(splits.begin(), splits.end()),
                     "data_splits must rise from 0 to the number of strings");
    std::vector<std::string> ngrams;
    std::vector<int64_t> ends{0};
    for (size_t row = 0; row + 1 < splits.size(); ++row) {
      const std::vector<std::string_view> strings(data.begin() + splits[row], data.begin() + splits[row + 1]);
      const size_t before = ngrams.size();
      for (const int64_t width : widths_) {
        const int64_t padding = pad_width_ < 0 ? width - 1 : std::min(pad_width_, width - 1);
        Append(strings, padding, width, &ngrams);
      }
      if (preserve_ && !strings.empty() && ngrams.size() == before) {
        LITEFUSE_REQUIRE(node, pad_width_ >= 0, "preserve_short_sequences needs a pad_width, or an n-gram for each row");
        Append(strings, pad_width_, static_cast<int64_t>(strings.size()) + 2 * pad_width_, &ngrams);
      }
      ends.push_back(static_cast<int64_t>(ngrams.size()));
    }
    if (node.output(1).type() == kTfLiteInt64) {
      std::copy(ends.begin(), ends.end(), node.output(1).mutable_data<int64_t>());
    } else {
      std::transform(ends.begin(), ends.end(), node.output(1).mutable_data<int32_t>(),
                     [](int64_t end) { return static_cast<int32_t>(end); });
    }
    return litefuse::WriteStrings(node, 0, {static_cast<int>(ngrams.size())}, ngrams);
  }

 private:
  // The n-grams of one width of a row between paddings.
  void Append(const std::vector<std::string_view>& row, int64_t padding, int64_t width,
              std::vector<std::string>* ngrams) const {
    const int64_t size = static_cast<int64_t>(row.size());
    for (int64_t begin = -padding; begin + width <= size + padding; ++begin) {
      std::string joined;
      for (int64_t i = begin; i < begin + width; ++i) {
        if (i > begin) joined += separator_;
        joined += i < 0 ? std::string_view(left_pad_) : i < size ? row[static_cast<size_t>(i)] : std::string_view(right_pad_);
      }
      ngrams->push_back(std::move(joined));
    }
  }

  std::string separator_, left_pad_, right_pad_;
  std::vector<int64_t> widths_;
  int64_t pad_width_ = 0;
  bool preserve_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(StringNGrams, StringNGrams)
