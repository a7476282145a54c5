// Regular expressions of RE2, run in a time that grows with the text and the expression.
//
// All ways to match are followed at once, those that the expression prefers first
// (https://swtch.com/~rsc/regexp/regexp2.html).
#ifndef LITEFUSE_KERNELS_REGULAR_EXPRESSION_H_
#define LITEFUSE_KERNELS_REGULAR_EXPRESSION_H_

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expression_reader.h"

namespace litefuse {

using expression::Characters;

class RegularExpression {
 public:
  static constexpr int kGroups = 10;  // the match and nine groups, which a rewriting can name
  using Places = std::array<int, 2 * kGroups>;  // where each begins and ends, or -1

  // Reads an expression; false where it is none, or has what the kernel in C++ does not know, which `error` then says.
  bool Read(std::string_view pattern, std::string* error) {
    expression::Reader reader;
    const expression::NodePointer node = reader.Read(pattern, error);
    if (node == nullptr) return false;
    program_.clear();
    compiled_ = 0;
    error_.clear();
    sets_ = reader.sets();
    groups_ = reader.groups();
    Emit(expression::kSave, 0);
    Compile(*node);
    Emit(expression::kSave, 1);
    Emit(expression::kMatch);
    *error = error_;
    return error_.empty();
  }

  // How many groups there are, besides the match.
  int groups() const { return static_cast<int>(groups_); }

  // The match that begins first from `start` on and that the expression prefers; or, if `full`, one of the whole text.
  bool Match(const Characters& text, size_t start, bool full, Places* places) const {
    Threads current(program_.size()), next(program_.size());
    bool matched = false;
    Places none;
    none.fill(-1);
    for (size_t at = start; at <= text.size(); ++at) {
      if (!matched && (!full || at == start)) Add(text, at, 0, none, &current);
      for (const Thread& thread : current.threads) {
        const Instruction& instruction = program_[thread.at];
        if (instruction.code == expression::kSet) {
          if (at < text.size() && sets_[instruction.x].Has(text.codes[at])) {
            Add(text, at + 1, thread.at + 1, thread.places, &next);
          }
        } else if (!full || at == text.size()) {
          *places = thread.places;
          matched = true;
          break;  // those behind are less preferred
        }
      }
      std::swap(current, next);
      next.Clear();
      if (current.threads.empty() && (matched || full)) break;
    }
    return matched;
  }

 private:
  using Code = expression::Code;
  using Node = expression::Node;

  struct Instruction {
    Code code;
    size_t x, y;  // expression::kSplit goes to x, or else to y
  };

  struct Thread {
    size_t at;
    Places places;
  };

  // Threads in the order in which they are preferred, each at another instruction.
  struct Threads {
    explicit Threads(size_t size) : seen(size, false) {}
    void Clear() {
      threads.clear();
      std::fill(seen.begin(), seen.end(), false);
    }
    std::vector<Thread> threads;
    std::vector<bool> seen;
  };

  static constexpr size_t kMostInstructions = 100000;

  // Follows what takes no character.
  void Add(const Characters& text, size_t at, size_t begin, const Places& places, Threads* threads) const {
    std::vector<Thread> waiting{{begin, places}};
    while (!waiting.empty()) {
      Thread thread = waiting.back();
      waiting.pop_back();
      if (threads->seen[thread.at]) continue;
      threads->seen[thread.at] = true;
      const Instruction& instruction = program_[thread.at];
      switch (instruction.code) {
        case expression::kSet:
        case expression::kMatch:
          threads->threads.push_back(thread);
          break;
        case expression::kSplit:
          waiting.push_back({instruction.y, thread.places});
          waiting.push_back({instruction.x, thread.places});
          break;
        case expression::kJump:
          waiting.push_back({instruction.x, thread.places});
          break;
        case expression::kSave:
          if (instruction.x < thread.places.size()) thread.places[instruction.x] = static_cast<int>(at);
          waiting.push_back({thread.at + 1, thread.places});
          break;
        default:
          if (Holds(instruction.code, text, at)) waiting.push_back({thread.at + 1, thread.places});
      }
    }
  }

  static bool Holds(Code code, const Characters& text, size_t at) {
    if (code == expression::kTextBegin) return at == 0;
    if (code == expression::kTextEnd) return at == text.size();
    const bool before = at > 0 && expression::IsWord(text.codes[at - 1]);
    const bool behind = at < text.size() && expression::IsWord(text.codes[at]);
    return (before != behind) == (code == expression::kBoundary);
  }

  // Writing the program.

  size_t Emit(Code code, size_t x = 0, size_t y = 0) {
    if (program_.size() >= kMostInstructions) {
      error_ = "it is too large";
    } else {
      program_.push_back({code, x, y});
    }
    return program_.size() - 1;
  }

  void Compile(const Node& node) {
    if (++compiled_ > kMostInstructions) error_ = "it is too large";
    if (!error_.empty()) return;
    switch (node.kind) {
      case Node::kLeaf:
        Emit(node.code, node.x);
        break;
      case Node::kConcatenation:
        for (const expression::NodePointer& part : node.parts) Compile(*part);
        break;
      case Node::kAlternation: {
        std::vector<size_t> jumps;
        for (size_t i = 0; i < node.parts.size(); ++i) {
          const bool last = i + 1 == node.parts.size();
          const size_t split = last ? 0 : Emit(expression::kSplit, program_.size() + 1);
          Compile(*node.parts[i]);
          if (!last) {
            jumps.push_back(Emit(expression::kJump));
            program_[split].y = program_.size();
          }
        }
        for (const size_t jump : jumps) program_[jump].x = program_.size();
        break;
      }
      case Node::kGroup:
        if (node.x > 0) Emit(expression::kSave, 2 * node.x);
        Compile(*node.parts[0]);
        if (node.x > 0) Emit(expression::kSave, 2 * node.x + 1);
        break;
      case Node::kRepetition:
        Repeat(node);
        break;
    }
  }

  void Repeat(const Node& node) {
    // Any number of times is once or more, or not at all: a loop that is entered at its end would prefer another way
    // through a part that may be empty.
    const int copies = node.most < 0 ? node.least - 1 : node.least;
    for (int i = 0; i < copies && error_.empty(); ++i) Compile(*node.parts[0]);
    std::vector<size_t> splits;
    if (node.most < 0) {
      if (node.least == 0) splits.push_back(Emit(expression::kSplit));
      const size_t begin = program_.size();
      Compile(*node.parts[0]);
      const size_t again = Emit(expression::kSplit);
      if (error_.empty()) {
        program_[again].x = node.lazy ? again + 1 : begin;
        program_[again].y = node.lazy ? begin : again + 1;
      }
    } else {
      for (int i = node.least; i < node.most && error_.empty(); ++i) {
        splits.push_back(Emit(expression::kSplit));
        Compile(*node.parts[0]);
      }
    }
    if (!error_.empty()) return;
    for (const size_t split : splits) {
      program_[split].x = node.lazy ? program_.size() : split + 1;
      program_[split].y = node.lazy ? split + 1 : program_.size();
    }
  }

  size_t groups_ = 0, compiled_ = 0;
  std::string error_;
  std::vector<Instruction> program_;
  std::vector<expression::Set> sets_;
};

}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_REGULAR_EXPRESSION_H_
