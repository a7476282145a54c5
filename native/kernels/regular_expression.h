// Regular expressions of RE2, run in a time that grows with the product of the sizes of text and expression, however
// many matches there are.
//
// The program of an expression (https://swtch.com/~rsc/regexp/regexp2.html) is followed backwards through the text
// first, which tells at each place from which instructions a match can be reached. After that no way forward is tried
// in vain: of those that lead to a match, the one that the expression prefers is taken.
#ifndef LITEFUSE_KERNELS_REGULAR_EXPRESSION_H_
#define LITEFUSE_KERNELS_REGULAR_EXPRESSION_H_

#include <algorithm>
#include <array>
#include <cstdint>
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
    if (!error_.empty()) return false;
    FindWaysTo();
    return true;
  }

  // How many groups there are, besides the match.
  int groups() const { return static_cast<int>(groups_); }

  class Matcher;

 private:
  using Code = expression::Code;
  using Node = expression::Node;

  struct Instruction {
    Code code;
    size_t x, y;  // expression::kSplit goes to x, or else to y
  };

  static constexpr size_t kMostInstructions = 100000;

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

  // Finds the instructions before each one that take no character.
  void FindWaysTo() {
    ways_to_.assign(program_.size(), {});
    for (size_t at = 0; at < program_.size(); ++at) {
      const Instruction& instruction = program_[at];
      switch (instruction.code) {
        case expression::kSet:
        case expression::kMatch:
          break;
        case expression::kSplit:
          ways_to_[instruction.x].push_back(at);
          ways_to_[instruction.y].push_back(at);
          break;
        case expression::kJump:
          ways_to_[instruction.x].push_back(at);
          break;
        default:
          ways_to_[at + 1].push_back(at);
      }
    }
  }

  size_t groups_ = 0, compiled_ = 0;
  std::string error_;
  std::vector<Instruction> program_;
  std::vector<std::vector<size_t>> ways_to_;
  std::vector<expression::Set> sets_;
};

// Finds matches in one text, from its beginning to its end.
class RegularExpression::Matcher {
 public:
  // Both must outlive the matcher. With `full`, only the whole text is a match.
  Matcher(const RegularExpression& expression, const Characters& text, bool full)
      : expression_(expression), text_(text), full_(full), words_((expression.program_.size() + 63) / 64) {
    while (block_ * block_ < text.size() + 1) block_ *= 2;
    rows_.resize(std::min(block_, text.size() + 1) * words_);
    checkpoints_.resize((text.size() / block_ + 1) * words_);
    for (size_t at = text.size() + 1; at-- > 0;) FillRow(at);
    tried_.assign(expression.program_.size(), 0);
  }

  // The match that begins first from `start` on, and that the expression prefers. What is asked for must not begin
  // before the end of the last match.
  bool Find(size_t start, Places* places) {
    while (start <= text_.size() && !Leads(start, 0)) {
      if (full_) return false;
      ++start;
    }
    if (start > text_.size()) return false;
    Thread thread{0, {}};
    thread.places.fill(-1);
    for (size_t at = start; Choose(at, &thread); ++at, ++thread.at) {
      if (expression_.program_[thread.at].code == expression::kMatch) {
        *places = thread.places;
        return true;
      }
    }
    return false;
  }

 private:
  struct Thread {
    size_t at;
    Places places;
  };

  // A row has a bit for each instruction from which a match can be reached. All would take too much memory for a long
  // text: the first row of each block is kept, and the rows of the block that is being read.
  uint64_t* Row(size_t at) { return rows_.data() + at % block_ * words_; }
  uint64_t* Checkpoint(size_t at) { return checkpoints_.data() + at / block_ * words_; }

  bool Leads(size_t at, size_t instruction) {
    if (at / block_ != loaded_) {
      const size_t begin = at / block_ * block_;
      for (size_t row = std::min(begin + block_, text_.size() + 1); row-- > begin;) FillRow(row);
      loaded_ = at / block_;
    }
    return (Row(at)[instruction / 64] >> instruction % 64 & 1) != 0;
  }

  // Fills the row of a place from that of the next one.
  void FillRow(size_t at) {
    // Of this block, or the first one of the next.
    const uint64_t* next = at == text_.size() ? nullptr : (at + 1) % block_ == 0 ? Checkpoint(at + 1) : Row(at + 1);
    const std::vector<Instruction>& program = expression_.program_;
    waiting_.clear();
    uint64_t* row = Row(at);
    std::fill(row, row + words_, 0);
    const auto add = [&](size_t instruction) {
      uint64_t& word = row[instruction / 64];
      const uint64_t bit = uint64_t{1} << instruction % 64;
      if ((word & bit) == 0) {
        word |= bit;
        waiting_.push_back(instruction);
      }
    };
    if (at < text_.size()) {
      for (size_t word = 0; word < words_; ++word) {
        size_t instruction = word * 64;
        for (uint64_t bits = next[word]; bits != 0; bits >>= 1, ++instruction) {
          if ((bits & 1) == 0 || instruction == 0) continue;
          const Instruction& before = program[instruction - 1];
          if (before.code == expression::kSet && expression_.sets_[before.x].Has(text_.codes[at])) {
            add(instruction - 1);
          }
        }
      }
    }
    if (!full_ || at == text_.size()) add(program.size() - 1);
    while (!waiting_.empty()) {
      const size_t instruction = waiting_.back();
      waiting_.pop_back();
      for (const size_t before : expression_.ways_to_[instruction]) {
        const Code code = program[before].code;
        const bool free = code == expression::kSplit || code == expression::kJump || code == expression::kSave;
        if (free || Holds(code, text_, at)) add(before);
      }
    }
    if (at % block_ == 0) std::copy(row, row + words_, Checkpoint(at));
  }

  // Follows what takes no character to what takes the next one, or to the end.
  bool Choose(size_t at, Thread* chosen) {
    ++round_;
    threads_.assign(1, *chosen);
    while (!threads_.empty()) {
      Thread thread = threads_.back();
      threads_.pop_back();
      if (tried_[thread.at] == round_ || !Leads(at, thread.at)) continue;
      tried_[thread.at] = round_;
      const Instruction& instruction = expression_.program_[thread.at];
      switch (instruction.code) {
        case expression::kSet:
        case expression::kMatch:
          *chosen = thread;
          return true;
        case expression::kSplit:
          threads_.push_back({instruction.y, thread.places});
          threads_.push_back({instruction.x, thread.places});
          break;
        case expression::kJump:
          threads_.push_back({instruction.x, thread.places});
          break;
        case expression::kSave:
          if (instruction.x < thread.places.size()) thread.places[instruction.x] = static_cast<int>(at);
          threads_.push_back({thread.at + 1, thread.places});
          break;
        default:  // it holds, or it would not lead to a match
          threads_.push_back({thread.at + 1, thread.places});
      }
    }
    return false;
  }

  const RegularExpression& expression_;
  const Characters& text_;
  const bool full_;
  const size_t words_;
  size_t block_ = 64, loaded_ = 0, round_ = 0;
  std::vector<uint64_t> rows_, checkpoints_;
  std::vector<size_t> waiting_, tried_;
  std::vector<Thread> threads_;
};

}  // namespace litefuse

#endif  // LITEFUSE_KERNELS_REGULAR_EXPRESSION_H_
