// StringToHashBucketFast: strings as numbers of buckets, by FarmHash's fingerprint.
//
// Definitions: the op's documentation in TensorFlow (tf.strings.to_hash_bucket_fast), and Fingerprint64 in farmhash.h
// (https://github.com/google/farmhash, the variant farmhashna), which never changes.

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "litefuse/kernel.h"
#include "litefuse/strings.h"

namespace {

using litefuse::Node;
using litefuse::Options;

constexpr uint64_t kK0 = 0xc3a5c85c97cb3127u, kK1 = 0xb492b66fbe98f273u, kK2 = 0x9ae16a3b2f90404fu;
constexpr size_t kBlock = 64;

uint64_t Word(const char* at) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | static_cast<unsigned char>(at[i]);
  return word;
}

uint64_t HalfWord(const char* at) {
  uint64_t word = 0;
  for (int i = 3; i >= 0; --i) word = word << 8 | static_cast<unsigned char>(at[i]);
  return word;
}

uint64_t Rotate(uint64_t value, int count) { return value >> count | value << (64 - count); }

uint64_t ShiftMix(uint64_t value) { return value ^ value >> 47; }

// Two words to one.
uint64_t Mix(uint64_t first, uint64_t second, uint64_t factor) {
  return ShiftMix((second ^ ShiftMix((first ^ second) * factor)) * factor) * factor;
}

uint64_t UpTo16(const char* data, size_t size) {
  const uint64_t factor = kK2 + size * 2;
  if (size >= 8) {
    const uint64_t first = Word(data) + kK2, last = Word(data + size - 8);
    return Mix(Rotate(last, 37) * factor + first, (Rotate(first, 25) + last) * factor, factor);
  }
  if (size >= 4) return Mix(size + (HalfWord(data) << 3), HalfWord(data + size - 4), factor);
  if (size > 0) {
    const auto byte = [data](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(data[i])); };
    const uint64_t start = byte(0) + (byte(size >> 1) << 8), end = size + (byte(size - 1) << 2);
    return ShiftMix(start * kK2 ^ end * kK0) * kK2;
  }
  return kK2;
}

uint64_t UpTo32(const char* data, size_t size) {
  const uint64_t factor = kK2 + size * 2;
  const uint64_t a = Word(data) * kK1, b = Word(data + 8);
  const uint64_t c = Word(data + size - 8) * factor, d = Word(data + size - 16) * kK2;
  return Mix(Rotate(a + b, 43) + Rotate(c, 30) + d, a + Rotate(b + kK2, 18) + c, factor);
}

uint64_t UpTo64(const char* data, size_t size) {
  const uint64_t factor = kK2 + size * 2;
  const uint64_t a = Word(data) * kK2, b = Word(data + 8);
  const uint64_t c = Word(data + size - 8) * factor, d = Word(data + size - 16) * kK2;
  const uint64_t y = Rotate(a + b, 43) + Rotate(c, 30) + d;
  const uint64_t z = Mix(y, a + Rotate(b + kK2, 18) + c, factor);
  const uint64_t e = Word(data + 16) * factor, f = Word(data + 24);
  const uint64_t g = (y + Word(data + size - 32)) * factor, h = (z + Word(data + size - 24)) * factor;
  return Mix(Rotate(e + f, 43) + Rotate(g, 30) + h, e + Rotate(f + a, 18) + g, factor);
}

using Pair = std::pair<uint64_t, uint64_t>;

Pair HalfBlock(const char* at, uint64_t a, uint64_t b) {
  a += Word(at);
  b = Rotate(b + a + Word(at + 24), 21);
  const uint64_t c = a;
  a += Word(at + 8) + Word(at + 16);
  b += Rotate(a, 44);
  return {a + Word(at + 24), b + c};
}

struct State {
  uint64_t x, y, z;
  Pair v, w;

  // Takes 64 bytes; the weight is that of the state's own words in the last step.
  void Take(const char* at, uint64_t factor, uint64_t weight) {
    x = Rotate(x + y + v.first + Word(at + 8), 37) * factor;
    y = Rotate(y + v.second + Word(at + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + Word(at + 40);
    z = Rotate(z + w.first, 33) * factor;
    v = HalfBlock(at, v.second * factor, x + w.first);
    w = HalfBlock(at + 32, z + w.second, y + Word(at + 16));
    std::swap(z, x);
  }
};

uint64_t Longer(const char* data, size_t size) {
  const uint64_t seed = 81;
  State state{seed * kK2 + Word(data), seed * kK1 + 113, 0, {0, 0}, {0, 0}};
  state.z = ShiftMix(state.y * kK2 + 113) * kK2;
  const size_t last = (size - 1) / kBlock * kBlock;  // where the last block begins, which may not be whole
  for (size_t at = 0; at < last; at += kBlock) state.Take(data + at, kK1, 1);
  const uint64_t factor = kK1 + ((state.z & 0xff) << 1);
  state.w.first += (size - 1) % kBlock;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.Take(data + size - kBlock, factor, 9);
  return Mix(Mix(state.v.first, state.w.first, factor) + ShiftMix(state.y) * kK0 + state.z,
             Mix(state.v.second, state.w.second, factor) + state.x, factor);
}

uint64_t Fingerprint(std::string_view string) {
  const char* data = string.data();
  const size_t size = string.size();
  if (size <= 16) return UpTo16(data, size);
  if (size <= 32) return UpTo32(data, size);
  return size <= 64 ? UpTo64(data, size) : Longer(data, size);
}

class StringToHashBucketFast : public litefuse::Kernel {
 public:
  bool Configure(Node& node, const Options& options) override {
    options.Get("num_buckets", &buckets_);
    LITEFUSE_REQUIRE(node, buckets_ >= 1, "num_buckets must be positive, not %lld", static_cast<long long>(buckets_));
    return true;
  }

  bool Prepare(Node& node) override { return litefuse::PrepareForEach(node, kTfLiteInt64); }

  bool Invoke(Node& node) override {
    std::vector<std::string_view> strings;
    if (!litefuse::ReadStrings(node, "input", node.input(0), &strings)) return false;
    int64_t* to = node.output(0).mutable_data<int64_t>();
    for (size_t i = 0; i < strings.size(); ++i) {
      to[i] = static_cast<int64_t>(Fingerprint(strings[i]) % static_cast<uint64_t>(buckets_));
    }
    return true;
  }

 private:
  int64_t buckets_ = 0;
};

}  // namespace

LITEFUSE_DEFINE_KERNEL(StringToHashBucketFast, StringToHashBucketFast)
