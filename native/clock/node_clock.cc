// A clock around the nodes of a model, for measurements: litefuse.tools.benchmarking puts litefuse_clock_invoke() in the place
// of the `invoke` of nodes, which calls the original and adds up how long that took. In C++, a look at the clock takes
// some 20 nanoseconds; loops run thousands of nodes that take not much more.
//
// One thread may have one clock at a time. It is not part of the kit, and apps do not get it.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "litefuse/delegate.h"
#include "litefuse/tflite.h"

namespace {

using Invoke = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*);

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Slot {
  const TfLiteNode* node = nullptr;
  Invoke original = nullptr;
  int64_t time = 0;  // without that of the nodes in the subgraphs that it runs
  int64_t runs = 0;
};

struct Frame {
  int32_t slot;
  int64_t inside;  // how long the nodes in its subgraphs took, with the clocks around them
};

struct Clock {
  std::vector<Slot> slots;
  std::unordered_map<const TfLiteNode*, int32_t> places;
  std::vector<Frame> frames{{-1, 0}};
  int64_t around = 0;
  size_t next = 0;  // the place of the node that is expected: most run in their order

  int32_t PlaceOf(const TfLiteNode* node) {
    const size_t place = next < slots.size() && slots[next].node == node ? next : places.find(node)->second;
    next = place + 1;
    return static_cast<int32_t>(place);
  }
};

std::unique_ptr<Clock> current;

TfLiteStatus TimedInvoke(TfLiteContext* context, TfLiteNode* node) {
  Clock& clock = *current;
  const int32_t place = clock.PlaceOf(node);
  clock.frames.push_back({place, 0});
  const Invoke original = clock.slots[place].original;
  const int64_t begun = Now();
  const TfLiteStatus status = original(context, node);
  const int64_t ended = Now();
  Slot& slot = clock.slots[place];
  slot.time += ended - begun - clock.frames.back().inside;
  ++slot.runs;
  clock.frames.pop_back();
  clock.frames.back().inside += ended - begun + clock.around;
  return status;
}

TfLiteStatus Nothing(TfLiteContext*, TfLiteNode*) { return kTfLiteOk; }

}  // namespace

extern "C" {

// The function to put in the place of the nodes' own.
LITEFUSE_EXPORT void* litefuse_clock_invoke(void) { return reinterpret_cast<void*>(TimedInvoke); }

// Begins to time nodes, whose addresses and original functions are given; what was timed before is forgotten.
LITEFUSE_EXPORT void litefuse_clock_begin(size_t count, void* const* nodes, void* const* originals) {
  current = std::make_unique<Clock>();
  current->slots.resize(count);
  current->places.reserve(count);
  for (size_t place = 0; place < count; ++place) {
    Slot& slot = current->slots[place];
    slot.node = static_cast<const TfLiteNode*>(nodes[place]);
    slot.original = reinterpret_cast<Invoke>(originals[place]);
    current->places[slot.node] = static_cast<int32_t>(place);
  }
}

// Ends it; the nodes must have their own functions again.
LITEFUSE_EXPORT void litefuse_clock_end(void) { current.reset(); }

// Sets all times to zero; `around` is how many nanoseconds it takes to come to the clock of a node and back.
LITEFUSE_EXPORT void litefuse_clock_reset(int64_t around) {
  for (Slot& slot : current->slots) slot.time = slot.runs = 0;
  current->frames.assign(1, {-1, 0});
  current->around = around;
}

// Writes the nanoseconds and the number of runs of each node; returns how long those of the outermost subgraph took,
// with the clocks around them.
LITEFUSE_EXPORT int64_t litefuse_clock_read(int64_t* times, int64_t* runs) {
  for (const Slot& slot : current->slots) {
    *times++ = slot.time;
    *runs++ = slot.runs;
  }
  return current->frames.front().inside;
}

// The node that runs now, by its place, the innermost one; -1 outside of all.
LITEFUSE_EXPORT int32_t litefuse_clock_running(void) { return current->frames.back().slot; }

// Measures the clock itself, in nanoseconds: how long a node seems to take that does nothing, and how long it takes to
// come to its clock and back. Ends the clock that there is.
LITEFUSE_EXPORT void litefuse_clock_overhead(double* within, double* around) {
  // Of many short measurements, the shortest: others were interrupted.
  constexpr int kMeasurements = 200;
  constexpr int kTimes = 100;
  TfLiteNode node{};
  void* address = &node;
  void* original = reinterpret_cast<void*>(Nothing);
  litefuse_clock_begin(1, &address, &original);
  const Invoke volatile timed = TimedInvoke;
  const Invoke volatile nothing = Nothing;
  int64_t shortest = INT64_MAX;
  for (int measurement = 0; measurement < kMeasurements; ++measurement) {
    litefuse_clock_reset(0);
    const int64_t begun = Now();
    for (int time = 0; time < kTimes; ++time) timed(nullptr, &node);
    const int64_t between = Now();
    for (int time = 0; time < kTimes; ++time) nothing(nullptr, &node);
    const int64_t ended = Now();
    if (ended - begun >= shortest) continue;
    shortest = ended - begun;
    const int64_t outside = (between - begun) - (ended - between) - current->frames.front().inside;
    *within = static_cast<double>(current->slots[0].time) / kTimes;
    *around = static_cast<double>(outside) / kTimes;
  }
  current.reset();
}

}  // extern "C"
