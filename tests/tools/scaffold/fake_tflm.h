// The part of tflite-micro's interface that applications of `litefuse export-micro` use, as it is documented in
// github.com/tensorflow/tflite-micro (2026-11), for machines without its sources. What it lacks is missing here, too.
//
// It computes nothing: outputs are those of fake_outputs.h, which a test writes, with the tensors in the model.
#ifndef FAKE_TFLM_H_
#define FAKE_TFLM_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fake_outputs.h"

enum TfLiteStatus { kTfLiteOk = 0, kTfLiteError = 1 };
enum TfLiteType {
  kTfLiteFloat32 = 1,
  kTfLiteInt32 = 2,
  kTfLiteUInt8 = 3,
  kTfLiteInt64 = 4,
  kTfLiteBool = 6,
  kTfLiteInt16 = 7,
  kTfLiteInt8 = 9,
  kTfLiteUInt32 = 16,
  kTfLiteUInt16 = 17,
};
#define TF_LITE_ENSURE_STATUS(a) \
  do {                           \
    const TfLiteStatus s = (a);  \
    if (s != kTfLiteOk) return s; \
  } while (0)

struct TfLiteTensor {
  TfLiteType type;
  union {
    void* data;
  } data;
  size_t bytes;
};
struct TFLMRegistration {};

inline void MicroPrintf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::printf("\n");
}

#define TFLITE_SCHEMA_VERSION (3)

namespace tflite {

inline void InitializeTarget() {}

struct Model {
  uint32_t version() const { return TFLITE_SCHEMA_VERSION; }
};

inline const Model* GetModel(const void* content) {
  const bool aligned = reinterpret_cast<uintptr_t>(content) % 16 == 0;
  const bool model = std::memcmp(static_cast<const char*>(content) + 4, "TFL3", 4) == 0;
  uint32_t sum = 0;
  for (size_t index = 0; index < fake::kModelBytes; ++index) sum += static_cast<const uint8_t*>(content)[index];
  std::printf("model: %s, sum %u\n", aligned && model ? "aligned" : "WRONG", sum);
  static const Model found;
  return &found;
}

class MicroOpResolver {};

template <unsigned int tOpCount>
class MicroMutableOpResolver : public MicroOpResolver {
 public:
  TfLiteStatus AddCustom(const char* name, const TFLMRegistration*) { return Add(name); }
#define FAKE_METHODS(X)                                                                                              \
  X(Abs) X(Add) X(AddN) X(ArgMax) X(ArgMin) X(AssignVariable) X(AveragePool2D) X(BatchMatMul) X(BatchToSpaceNd)      \
  X(BroadcastArgs) X(BroadcastTo) X(CallOnce) X(Cast) X(Ceil) X(CircularBuffer) X(Concatenation) X(Conv2D) X(Cos)    \
  X(CumSum) X(Decode) X(Delay) X(DepthToSpace) X(DepthwiseConv2D) X(Dequantize) X(DetectionPostprocess) X(Div)       \
  X(DynamicUpdateSlice) X(Elu) X(EmbeddingLookup) X(Energy) X(Equal) X(EthosU) X(Exp) X(ExpandDims) X(FftAutoScale)  \
  X(Fill) X(FilterBank) X(FilterBankLog) X(FilterBankSpectralSubtraction) X(FilterBankSquareRoot) X(Floor)           \
  X(FloorDiv) X(FloorMod) X(Framer) X(FullyConnected) X(Gather) X(GatherNd) X(Greater) X(GreaterEqual) X(HardSwish)  \
  X(If) X(Irfft) X(L2Normalization) X(L2Pool2D) X(LeakyRelu) X(Less) X(LessEqual) X(Log) X(LogSoftmax) X(LogicalAnd) \
  X(LogicalNot) X(LogicalOr) X(Logistic) X(MaxPool2D) X(Maximum) X(Mean) X(Minimum) X(MirrorPad) X(Mul) X(Neg)       \
  X(NotEqual) X(OverlapAdd) X(PCAN) X(Pack) X(Pad) X(PadV2) X(Prelu) X(Quantize) X(ReadVariable) X(ReduceAll)        \
  X(ReduceMax) X(ReduceMin) X(Relu) X(Relu6) X(Reshape) X(ResizeBilinear) X(ResizeNearestNeighbor) X(ReverseV2)      \
  X(Rfft) X(Round) X(Rsqrt) X(SelectV2) X(Shape) X(Sin) X(Slice) X(Softmax) X(SpaceToBatchNd) X(SpaceToDepth)        \
  X(Split) X(SplitV) X(Sqrt) X(Square) X(SquaredDifference) X(Squeeze) X(Stacker) X(StridedSlice) X(Sub) X(Sum)      \
  X(Svdf) X(Tanh) X(Transpose) X(TransposeConv) X(UnidirectionalSequenceLSTM) X(Unpack) X(VarHandle) X(While)        \
  X(Window) X(ZerosLike)
#define FAKE_METHOD(Name) \
  TfLiteStatus Add##Name() { return Add(#Name); }
  FAKE_METHODS(FAKE_METHOD)
#undef FAKE_METHOD

 private:
  TfLiteStatus Add(const char* name) {
    std::printf("op: %s\n", name);
    return count_++ < tOpCount ? kTfLiteOk : kTfLiteError;
  }
  unsigned int count_ = 0;
};

class MicroAllocator {
 public:
  static MicroAllocator* Create(uint8_t*, size_t bytes) {
    static MicroAllocator made;
    made.bytes = bytes;
    return &made;
  }
  size_t bytes = 0;
};

class MicroResourceVariables {
 public:
  static MicroResourceVariables* Create(MicroAllocator*, int count) {
    std::printf("variables: %d\n", count);
    return nullptr;
  }
};

class MicroInterpreter {
 public:
  MicroInterpreter(const Model*, const MicroOpResolver&, uint8_t* arena, size_t bytes,
                   MicroResourceVariables* = nullptr)
      : bytes_(reinterpret_cast<uintptr_t>(arena) % 16 == 0 ? bytes : 0) {}
  MicroInterpreter(const Model*, const MicroOpResolver&, MicroAllocator* allocator, MicroResourceVariables* = nullptr)
      : bytes_(allocator->bytes) {}

  TfLiteStatus AllocateTensors() {
    if (bytes_ >= fake::kArenaBytes) return kTfLiteOk;
    MicroPrintf("the arena is too small");
    return kTfLiteError;
  }
  TfLiteTensor* input(size_t index) { return &inputs_[index]; }
  TfLiteTensor* output(size_t index) { return &outputs_[index]; }
  TfLiteStatus Invoke() {
    std::memcpy(outputs_[0].data.data, fake::kOutput[call_++ % 2], outputs_[0].bytes);
    unsigned int sum = 0;
    for (size_t index = 0; index < inputs_[0].bytes; ++index) sum += static_cast<uint8_t*>(inputs_[0].data.data)[index];
    std::printf("input: sum %u\n", sum);
    return kTfLiteOk;
  }
  TfLiteStatus Reset() {
    call_ = 0;
    return kTfLiteOk;
  }
  size_t arena_used_bytes() const { return fake::kArenaBytes; }

 private:
  size_t bytes_;
  int call_ = 0;
  uint8_t input_[fake::kInputBytes] = {};
  uint8_t output_[fake::kOutputBytes] = {};
  TfLiteTensor inputs_[1] = {{static_cast<TfLiteType>(fake::kInputType), {input_}, fake::kInputBytes}};
  TfLiteTensor outputs_[1] = {{static_cast<TfLiteType>(fake::kOutputType), {output_}, fake::kOutputBytes}};
};

}  // namespace tflite

#endif  // FAKE_TFLM_H_
