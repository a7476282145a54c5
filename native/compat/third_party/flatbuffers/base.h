#ifndef LITEFUSE_COMPAT_FLATBUFFERS_BASE_H_
#define LITEFUSE_COMPAT_FLATBUFFERS_BASE_H_

#include <cassert>
#include <cstdint>
#include <cstring>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FLATBUFFERS_LITTLEENDIAN 0
#else
#define FLATBUFFERS_LITTLEENDIAN 1
#endif

#endif  // LITEFUSE_COMPAT_FLATBUFFERS_BASE_H_
