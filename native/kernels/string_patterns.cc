// StaticRegexReplace and StaticRegexFullMatch: regular expressions that are known when the model is loaded.
//
// Definitions: the ops' documentation in TensorFlow (tf.strings.regex_replace, tf.strings.regex_full_match), and
// GlobalReplace of RE2, by which an empty match at the end of the last one does not count.

#include <string>
#include <string_view>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"
#include "regular_expression.h"

namespace {

using litefuse::Characters;
using litefuse::Node;
using litefuse::Options;
using litefuse::RegularExpression;

bool ReadPattern(Node& node, const Options& options, RegularExpression* expression) {
  std::string pattern, error;
  LITEFUSE_REQUIRE(node, options.Get("pattern", &pattern), "the option pattern is missing");
  LITEFUSE_REQUIRE(node, expression->Read(pattern, &error), "%s, in the regular expression '%s'", error.c_str(),
                   pattern.c_str());
  return true;
}

class StaticRegexReplace : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    std::string rewrite;
    LITEFUSE_REQUIRE(node, options.Get("rewrite", &rewrite), "the option rewrite is missing");
    options.Get("replace_global", &every_);
    for (size_t i = 0; i < rewrite.size(); ++i) {
      if (rewrite[i] != '\\') {
        parts_.push_back({std::string(1, rewrite[i]), -1});
        continue;
      }
      const char next = ++i < rewrite.size() ? rewrite[i] : 'x';
      LITEFUSE_REQUIRE(node, next == '\\' || (next >= '0' && next <= '9'),
                       "rewrite '%s': behind a backslash stands a digit or another one", rewrite.c_str());
      if (next == '\\') {
        parts_.push_back({"\\", -1});
      } else {
        parts_.push_back({"", next - '0'});
      }
    }
    return ReadPattern(node, options, &expression_);
  }

  bool Prepare(Node& node) override { return litefuse::PrepareForEach(node, kTfLiteString); }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> strings;
    if (!litefuse::ReadStrings(node, "input", node.input(0), &strings)) return false;
    std::vector<std::string> replaced;
    for (const std::string_view each : strings) replaced.push_back(Replaced(each));
    return litefuse::WriteStrings(node, 0, node.input(0).shape(), replaced);
  }

 private:
  struct Part {
    std::string text;
    int group;  // -1 for the text
  };

  std::string Replaced(std::string_view string) const {
    for (const Part& part : parts_) {
      if (part.group > expression_.groups()) return std::string(string);  // as RE2: nothing is replaced
    }
    const Characters text(string);
    std::string result;
    const auto append = [&](size_t begin, size_t end) {
      result += string.substr(text.begins[begin], text.begins[end] - text.begins[begin]);
    };
    RegularExpression::Matcher matcher(expression_, text, false);
    RegularExpression::Places places;
    size_t at = 0, last = text.size() + 1;
    while (at <= text.size() && matcher.Find(at, &places)) {
      const size_t begin = static_cast<size_t>(places[0]), end = static_cast<size_t>(places[1]);
      if (begin == end && begin == last) {
        if (at < text.size()) append(at, at + 1);
        ++at;
        continue;
      }
      append(at, begin);
      for (const Part& part : parts_) {
        if (part.group < 0) {
          result += part.text;
        } else {
          const size_t place = 2 * static_cast<size_t>(part.group);
          if (places[place] >= 0 && places[place + 1] >= 0) {
            append(static_cast<size_t>(places[place]), static_cast<size_t>(places[place + 1]));
          }
        }
      }
      at = last = end;
      if (!every_) break;
    }
    if (at <= text.size()) append(at, text.size());
    return result;
  }

  RegularExpression expression_;
  std::vector<Part> parts_;
  bool every_ = true;
};

class StaticRegexFullMatch : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override { return ReadPattern(node, options, &expression_); }

  bool Prepare(Node& node) override { return litefuse::PrepareForEach(node, kTfLiteBool); }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> strings;
    if (!litefuse::ReadStrings(node, "input", node.input(0), &strings)) return false;
    bool* to = node.output(0).mutable_data<bool>();
    RegularExpression::Places places;
    for (size_t i = 0; i < strings.size(); ++i) {
      const Characters text(strings[i]);
      to[i] = RegularExpression::Matcher(expression_, text, true).Find(0, &places);
    }
    return true;
  }

 private:
  RegularExpression expression_;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(StaticRegexFullMatch, StaticRegexFullMatch)
LITEFUSE_DEFINE_KERNEL(StaticRegexReplace, StaticRegexReplace)
