// StringSplit and StringSplitV2: the pieces of strings, as a sparse tensor.
//
// Definitions: the ops' documentation in TensorFlow (tf.compat.v1.string_split, tf.strings.split).

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"

namespace {

using litefuse::Node;
using litefuse::Options;

using Pieces = std::vector<std::string_view>;

class Split : public litefuse::Kernel {
 public:
  bool Prepare(Node& node) override {
    if (!node.CheckCounts(2, 3) || !node.CheckType("input", node.input(0), {kTfLiteString}) ||
        !node.CheckRank("input", node.input(0), 1) || !node.CheckType("the separator", node.input(1), {kTfLiteString}) ||
        !node.CheckType("output 0", node.output(0), {kTfLiteInt64}) ||
        !node.CheckType("output 1", node.output(1), {kTfLiteString}) ||
        !node.CheckType("output 2", node.output(2), {kTfLiteInt64})) {
      return false;
    }
    node.MakeDynamic(0);
    node.MakeDynamic(1);
    return node.Resize(2, {2});
  }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> strings;
    std::string_view separator;
    if (!litefuse::ReadStrings(node, "input", node.input(0), &strings) ||
        !litefuse::ReadString(node, "the separator", node.input(1), &separator)) {
      return false;
    }
    std::vector<int64_t> places;
    std::vector<std::string> values;
    size_t most = 0;
    for (size_t row = 0; row < strings.size(); ++row) {
      const Pieces pieces = Of(strings[row], separator);
      for (size_t i = 0; i < pieces.size(); ++i) {
        places.push_back(static_cast<int64_t>(row));
        places.push_back(static_cast<int64_t>(i));
        values.emplace_back(pieces[i]);
      }
      most = std::max(most, pieces.size());
    }
    const int count = static_cast<int>(values.size());
    if (!node.Resize(0, {count, 2})) return false;
    if (count > 0) std::copy(places.begin(), places.end(), node.output(0).mutable_data<int64_t>());
    int64_t* shape = node.output(2).mutable_data<int64_t>();
    shape[0] = static_cast<int64_t>(strings.size());
    shape[1] = static_cast<int64_t>(most);
    return litefuse::WriteStrings(node, 1, {count}, values);
  }

 protected:
  virtual Pieces Of(std::string_view text, std::string_view separator) const = 0;
};

// Each byte of the separator separates; without any, each byte is a piece.
class StringSplit : public Split {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("skip_empty", &skip_empty_);
    return true;
  }

 private:
  Pieces Of(std::string_view text, std::string_view separator) const override {
    Pieces pieces;
    if (separator.empty()) {
      for (size_t i = 0; i < text.size(); ++i) pieces.push_back(text.substr(i, 1));
      return pieces;
    }
    if (text.empty()) return pieces;
    while (true) {
      const size_t end = text.find_first_of(separator);
      const std::string_view piece = text.substr(0, end);
      if (!piece.empty() || !skip_empty_) pieces.push_back(piece);
      if (end == std::string_view::npos) return pieces;
      text.remove_prefix(end + 1);
    }
  }

  bool skip_empty_ = true;
};

// The separator as a whole separates; an empty one stands for whitespace.
class StringSplitV2 : public Split {
 public:
  bool Configure(Node&, const Options& options) override {
    options.Get("maxsplit", &maxsplit_);
    return true;
  }

 private:
  Pieces Of(std::string_view text, std::string_view separator) const override {
    if (maxsplit_ == 0) return {text};
    return separator.empty() ? AtWhitespace(text) : AtSeparator(text, separator);
  }

  bool Full(const Pieces& pieces) const { return maxsplit_ > 0 && pieces.size() == static_cast<size_t>(maxsplit_); }

  Pieces AtSeparator(std::string_view text, std::string_view separator) const {
    Pieces pieces;
    while (!Full(pieces)) {
      const size_t end = text.find(separator);
      if (end == std::string_view::npos) break;
      pieces.push_back(text.substr(0, end));
      text.remove_prefix(end + separator.size());
    }
    pieces.push_back(text);
    return pieces;
  }

  Pieces AtWhitespace(std::string_view text) const {
    Pieces pieces;
    SkipSpaces(&text);
    while (!text.empty() && !Full(pieces)) {
      size_t end = 0;
      while (end < text.size() && !litefuse::IsSpace(text[end])) ++end;
      pieces.push_back(text.substr(0, end));
      text.remove_prefix(end);
      SkipSpaces(&text);
    }
    // What is left after the last piece counts, also if nothing is.
    if (Full(pieces)) pieces.push_back(text);
    return pieces;
  }

  static void SkipSpaces(std::string_view* text) {
    while (!text->empty() && litefuse::IsSpace(text->front())) text->remove_prefix(1);
  }

  int32_t maxsplit_ = -1;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(StringSplit, StringSplit)
LITEFUSE_DEFINE_KERNEL(StringSplitV2, StringSplitV2)
