// Characters of UTF-8.
#ifndef LITEFUSE_UTF8_H_
#define LITEFUSE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace litefuse {

// The first character of a text that is not empty: of how many bytes it is, and its code; 0 if the first byte begins
// none. Definition: the Unicode Standard, table 3-7 (well-formed byte sequences).
inline size_t DecodeCharacter(std::string_view text, uint32_t* code) {
  const auto byte = [text](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(0);
  const size_t length =
      first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  uint32_t value = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
  *code = value;
  return length;
}

// Whether a byte continues a character.
inline bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace litefuse

#endif  // LITEFUSE_UTF8_H_
