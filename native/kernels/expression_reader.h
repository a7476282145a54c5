// Regular expressions of RE2, without flags and without classes of Unicode, as trees.
//
// Definition: https://github.com/google/re2/wiki/Syntax. The kernel in Python reads the same
// (src/litefuse/kernels/re2.py). A byte that is no UTF-8 is a character that nothing matches.
#ifndef LITEFUSE_KERNELS_EXPRESSION_READER_H_
#define LITEFUSE_KERNELS_EXPRESSION_READER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "litefuse/utf8.h"

namespace litefuse {
namespace expression {

// A text as characters, and where each begins.
struct Characters {
  static constexpr uint32_t kNone = 0x110000;  // what a byte is that is no UTF-8

  explicit Characters(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      uint32_t code = kNone;
      const size_t length = DecodeCharacter(text.substr(at), &code);
      codes.push_back(code);
      begins.push_back(at);
      at += std::max<size_t>(length, 1);
    }
    begins.push_back(text.size());
  }

  size_t size() const { return codes.size(); }

  std::vector<uint32_t> codes;
  std::vector<size_t> begins;
};

using Range = std::pair<uint32_t, uint32_t>;

struct Set {
  std::vector<Range> ranges;
  bool negated = false;

  bool Has(uint32_t code) const {
    if (code == Characters::kNone) return false;
    for (const Range& each : ranges) {
      if (code >= each.first && code <= each.second) return !negated;
    }
    return negated;
  }
};

// What an instruction does: takes a character of a set, goes on elsewhere, notes a place, or holds at some places only.
enum Code { kSet, kSplit, kJump, kSave, kTextBegin, kTextEnd, kBoundary, kNoBoundary, kMatch };

struct Node;
using NodePointer = std::unique_ptr<Node>;

struct Node {
  enum Kind { kLeaf, kConcatenation, kAlternation, kRepetition, kGroup } kind;
  Code code = kSet;  // of a leaf
  size_t x = 0;      // its set, or the group's number; 0 for a group that is not kept
  int least = 0, most = 0;  // of a repetition; -1 for any number
  bool lazy = false;
  std::vector<NodePointer> parts;
};

inline bool IsAlphanumeric(uint32_t code) {
  return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z');
}

inline bool IsWord(uint32_t code) {
  return code == '_' || IsAlphanumeric(code);
}

class Reader {
 public:
  // Reads an expression; null where it is none, or has what the kernel in C++ does not know, which `error` then says.
  NodePointer Read(std::string_view pattern, std::string* error) {
    const Characters characters(pattern);
    pattern_ = &characters;
    NodePointer node = Alternatives();
    if (error_.empty() && at_ < characters.size()) error_ = "a parenthesis is closed that was not opened";
    pattern_ = nullptr;
    *error = error_;
    return error_.empty() ? std::move(node) : nullptr;
  }

  // What leaves name by their numbers, and how many groups are kept.
  const std::vector<Set>& sets() const { return sets_; }
  size_t groups() const { return groups_; }

 private:
  static constexpr int kMostRepetitions = 1000;
  static constexpr size_t kMostDepth = 250;

  bool AtEnd() const { return at_ >= pattern_->size(); }
  uint32_t Peek(size_t ahead = 0) const { return at_ + ahead < pattern_->size() ? pattern_->codes[at_ + ahead] : 0; }
  bool Next(const char* text) {
    const size_t size = std::strlen(text);
    for (size_t i = 0; i < size; ++i) {
      if (at_ + i >= pattern_->size() || pattern_->codes[at_ + i] != static_cast<unsigned char>(text[i])) return false;
    }
    at_ += size;
    return true;
  }
  NodePointer Fail(const char* reason) {
    if (error_.empty()) error_ = reason;
    at_ = pattern_->size();
    return Leaf(kTextEnd, 0);
  }

  static NodePointer Make(Node::Kind kind) {
    NodePointer node(new Node());
    node->kind = kind;
    return node;
  }
  static NodePointer Leaf(Code code, size_t x) {
    NodePointer node = Make(Node::kLeaf);
    node->code = code;
    node->x = x;
    return node;
  }
  NodePointer SetOf(std::vector<Range> ranges, bool negated) {
    sets_.push_back({std::move(ranges), negated});
    return Leaf(kSet, sets_.size() - 1);
  }

  NodePointer Alternatives() {
    if (++depth_ > kMostDepth) return Fail("its parentheses are too deep");
    NodePointer alternation = Make(Node::kAlternation), parts = Make(Node::kConcatenation);
    bool repeatable = false;
    while (!AtEnd() && Peek() != ')') {
      if (Next("|")) {
        alternation->parts.push_back(std::move(parts));
        parts = Make(Node::kConcatenation);
        repeatable = false;
      } else if (Next("\\Q")) {
        while (!AtEnd() && !Next("\\E")) {
          parts->parts.push_back(SetOf({{Peek(), Peek()}}, false));
          repeatable = true;
          ++at_;
        }
      } else {
        NodePointer repetition = Repetition();
        if (repetition != nullptr) {
          if (!repeatable) return Fail("nothing stands before a repetition, or another one does");
          repetition->parts.push_back(std::move(parts->parts.back()));
          parts->parts.back() = std::move(repetition);
          repeatable = false;
        } else {
          parts->parts.push_back(Atom());
          repeatable = true;
        }
      }
    }
    --depth_;
    alternation->parts.push_back(std::move(parts));
    return alternation;
  }

  // A repetition without what is repeated; null if none comes next.
  NodePointer Repetition() {
    NodePointer node = Make(Node::kRepetition);
    if (Next("*")) {
      node->most = -1;
    } else if (Next("+")) {
      node->least = 1;
      node->most = -1;
    } else if (Next("?")) {
      node->most = 1;
    } else if (!Numbers(&node->least, &node->most)) {
      return nullptr;
    }
    if (node->least > kMostRepetitions || node->most > kMostRepetitions ||
        (node->most >= 0 && node->most < node->least)) {
      return Fail("a repetition is of more than 1000 times, or ends before it begins");
    }
    node->lazy = Next("?");
    return node;
  }

  bool Numbers(int* least, int* most) {
    const size_t before = at_;
    if (Next("{") && Number(least)) {
      *most = *least;
      if (Next(",") && !Number(most)) *most = -1;
      if (Next("}")) return true;
    }
    at_ = before;
    return false;
  }

  bool Number(int* number) {
    const size_t before = at_;
    for (*number = 0; Peek() >= '0' && Peek() <= '9'; ++at_) {
      *number = std::min(*number * 10 + static_cast<int>(Peek() - '0'), 10 * kMostRepetitions);
    }
    return at_ > before;
  }

  NodePointer Atom() {
    if (Next("(")) return Group();
    if (Next("[")) return Class();
    if (Next(".")) return SetOf({{'\n', '\n'}}, true);
    if (Next("^") || Next("\\A")) return Leaf(kTextBegin, 0);
    if (Next("$") || Next("\\z")) return Leaf(kTextEnd, 0);
    if (Next("\\b")) return Leaf(kBoundary, 0);
    if (Next("\\B")) return Leaf(kNoBoundary, 0);
    std::vector<Range> ranges;
    bool negated = false;
    if (Peek() == '\\') {
      ++at_;
      if (EscapedClass(&ranges, &negated)) return SetOf(std::move(ranges), negated);
      uint32_t code = 0;
      if (!EscapedCharacter(&code)) return Fail("a backslash stands before what the kernel in C++ does not know");
      return SetOf({{code, code}}, false);
    }
    const uint32_t code = Peek();
    ++at_;
    return SetOf({{code, code}}, false);
  }

  // The parenthesis is behind.
  NodePointer Group() {
    NodePointer node = Make(Node::kGroup);
    if (!Next("?:")) {
      if (Peek() == '?') {
        if (!Next("?P<") && !Next("?<")) return Fail("it has flags, which the kernel in C++ does not know");
        while (!AtEnd() && Peek() != '>') ++at_;
        if (!Next(">")) return Fail("the name of a group does not end");
      }
      node->x = ++groups_;
    }
    node->parts.push_back(Alternatives());
    return Next(")") ? std::move(node) : Fail("a parenthesis is not closed");
  }

  // Such as \d, behind the backslash.
  bool EscapedClass(std::vector<Range>* ranges, bool* negated) {
    const uint32_t code = Peek();
    if (code == 0 || code >= 0x80 || std::strchr("dDsSwW", static_cast<int>(code)) == nullptr) return false;
    ++at_;
    *negated = code < 'a';
    switch (*negated ? code + ('a' - 'A') : code) {
      case 'd':
        *ranges = {{'0', '9'}};
        break;
      case 's':
        *ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
        break;
      default:
        *ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    }
    return true;
  }

  bool EscapedCharacter(uint32_t* code) {
    if (AtEnd()) return false;
    const uint32_t next = Peek();
    static const char kNames[] = "afnrtv", kControls[] = "\a\f\n\r\t\v";
    const char* found = next != 0 && next < 0x80 ? std::strchr(kNames, static_cast<int>(next)) : nullptr;
    if (found != nullptr) {
      ++at_;
      *code = static_cast<uint32_t>(kControls[found - kNames]);
      return true;
    }
    if (Next("x")) return Hexadecimal(code);
    if (next >= '0' && next <= '7' && (next == '0' || (Peek(1) >= '0' && Peek(1) <= '7'))) {
      *code = 0;
      for (int i = 0; i < 3 && Peek() >= '0' && Peek() <= '7'; ++i, ++at_) *code = *code * 8 + (Peek() - '0');
      return true;
    }
    if (next >= 0x80 || IsAlphanumeric(next)) return false;
    ++at_;
    *code = next;
    return true;
  }

  bool Hexadecimal(uint32_t* code) {
    const bool braces = Next("{");
    *code = 0;
    int digits = 0;
    for (; braces || digits < 2; ++digits, ++at_) {
      const uint32_t next = Peek(), small = next | 0x20;
      const bool letter = small >= 'a' && small <= 'f';
      if (!letter && !(next >= '0' && next <= '9')) break;
      *code = *code * 16 + (letter ? small - 'a' + 10 : next - '0');
      if (*code > 0x10FFFF) return false;
    }
    return braces ? digits > 0 && Next("}") : digits == 2;
  }

  // The first bracket is behind.
  NodePointer Class() {
    const bool negated = Next("^");
    std::vector<Range> ranges;
    for (bool first = true; first || !Next("]"); first = false) {
      if (AtEnd()) return Fail("a bracket is not closed");
      std::vector<Range> group;
      bool group_negated = false;
      const size_t before = at_;
      if (Peek() == '[' && Peek(1) == ':') {
        const int found = PosixClass(&group, &group_negated);
        if (found < 0) return Fail("unknown class in brackets");
        if (found > 0) {
          Join(std::move(group), group_negated, &ranges);
          continue;
        }
        at_ = before;
      } else if (Next("\\")) {
        if (EscapedClass(&group, &group_negated)) {
          Join(std::move(group), group_negated, &ranges);
          continue;
        }
        at_ = before;
      }
      uint32_t low = 0, high = 0;
      if (!ClassCharacter(&low)) return Fail("a class has what RE2 or the kernel in C++ does not know");
      high = low;
      if (Peek() == '-' && at_ + 1 < pattern_->size() && Peek(1) != ']') {
        ++at_;
        if (!ClassCharacter(&high) || high < low) return Fail("a range in brackets ends before it begins");
      }
      ranges.push_back({low, high});
    }
    return SetOf(std::move(ranges), negated);
  }

  bool ClassCharacter(uint32_t* code) {
    if (AtEnd()) return false;
    if (Next("\\")) return EscapedCharacter(code);
    *code = Peek();
    ++at_;
    return true;
  }

  // 1 for a class such as [:alpha:], 0 for what does not look like one, -1 for one that there is not.
  int PosixClass(std::vector<Range>* ranges, bool* negated) {
    static const struct {
      const char* name;
      std::vector<Range> ranges;
    } kClasses[] = {
        {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
        {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
        {"ascii", {{0, 0x7F}}},
        {"blank", {{'\t', '\t'}, {' ', ' '}}},
        {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}},
        {"digit", {{'0', '9'}}},
        {"graph", {{'!', '~'}}},
        {"lower", {{'a', 'z'}}},
        {"print", {{' ', '~'}}},
        {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
        {"space", {{'\t', '\r'}, {' ', ' '}}},
        {"upper", {{'A', 'Z'}}},
        {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
        {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
    };
    at_ += 2;
    *negated = Next("^");
    std::string name;
    for (; !AtEnd() && IsWord(Peek()); ++at_) name += static_cast<char>(Peek());
    if (name.empty() || !Next(":]")) return 0;
    for (const auto& each : kClasses) {
      if (name == each.name) {
        *ranges = each.ranges;
        return 1;
      }
    }
    return -1;
  }

  // Adds ranges, or all that is in none of them.
  static void Join(std::vector<Range> group, bool negated, std::vector<Range>* ranges) {
    if (!negated) {
      ranges->insert(ranges->end(), group.begin(), group.end());
      return;
    }
    std::sort(group.begin(), group.end());
    uint32_t next = 0;
    for (const Range& each : group) {
      if (each.first > next) ranges->push_back({next, each.first - 1});
      next = each.second + 1;
    }
    if (next <= 0x10FFFF) ranges->push_back({next, 0x10FFFF});
  }

  const Characters* pattern_ = nullptr;
  size_t at_ = 0, groups_ = 0, depth_ = 0;
  std::string error_;
  std::vector<Set> sets_;
};

}  // namespace expression
}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_EXPRESSION_READER_H_
