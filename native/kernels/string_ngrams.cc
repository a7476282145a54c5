// StringNGrams: neighbors in the rows of a ragged tensor, joined.
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
      LITEFUSE_REQUIRE(node, width >= 1 && width <= INT32_MAX, "ngram_widths must be positive int32, not %lld",
                       static_cast<long long>(width));
    }
    LITEFUSE_REQUIRE(node, pad_width_ >= -1 && pad_width_ <= INT32_MAX, "pad_width must be -1 or a larger int32, not %lld",
                     static_cast<long long>(pad_width_));
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
    int64_t left = kMostJoined;
    for (size_t row = 0; row + 1 < splits.size(); ++row) {
      const std::vector<std::string_view> strings(data.begin() + splits[row], data.begin() + splits[row + 1]);
      const size_t before = ngrams.size();
      for (const int64_t width : widths_) {
        const int64_t padding = pad_width_ < 0 ? width - 1 : std::min(pad_width_, width - 1);
        if (!Append(node, strings, padding, width, &left, &ngrams)) return false;
      }
      if (preserve_ && !strings.empty() && ngrams.size() == before) {
        LITEFUSE_REQUIRE(node, pad_width_ >= 0, "preserve_short_sequences needs a pad_width, or an n-gram for each row");
        if (!Append(node, strings, pad_width_, static_cast<int64_t>(strings.size()) + 2 * pad_width_, &left, &ngrams)) {
          return false;
        }
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
  // How many strings are joined in one call at most. The kernel in Python has the same limit.
  static constexpr int64_t kMostJoined = int64_t{1} << 26;

  // The n-grams of one width of a row between paddings; `left` is how many strings may still be joined.
  bool Append(Node& node, const std::vector<std::string_view>& row, int64_t padding, int64_t width, int64_t* left,
              std::vector<std::string>* ngrams) const {
    const int64_t size = static_cast<int64_t>(row.size());
    int64_t joined_strings = 0;
    const bool countable =
        litefuse::Multiply({std::max<int64_t>(size + 2 * padding - width + 1, 0), width}, &joined_strings);
    LITEFUSE_REQUIRE(node, countable && joined_strings <= *left,
                     "the n-grams of %lld strings of a row of %lld are too many to make", static_cast<long long>(width),
                     static_cast<long long>(size));
    *left -= joined_strings;
    for (int64_t begin = -padding; begin + width <= size + padding; ++begin) {
      std::string joined;
      for (int64_t i = begin; i < begin + width; ++i) {
        if (i > begin) joined += separator_;
        joined += i < 0 ? std::string_view(left_pad_) : i < size ? row[static_cast<size_t>(i)] : std::string_view(right_pad_);
      }
      ngrams->push_back(std::move(joined));
    }
    return true;
  }

  std::string separator_, left_pad_, right_pad_;
  std::vector<int64_t> widths_;
  int64_t pad_width_ = 0;
  bool preserve_ = false;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(StringNGrams, StringNGrams)
