"""Faults in LiteRT's kernels, its runtime and its Python bindings."""

from __future__ import annotations

from tests.ir.engine.fault_table.fault import RUNTIME_VERSION, Component, Fault

_LEGALIZE = "litefuse.passes.legalize"
_FINISHING = "litefuse.passes.finishing"
_BRANCH_RESULTS = "litefuse.passes.control_flow.branches.copy_branch_results"
_OUTLINE = "litefuse.passes.control_flow.litert_loops.outline_loops"
_STATES = f"{_FINISHING}.initialize_states.initialize_states"
_SHAPES = f"{_FINISHING}.prepared_shapes.prepare_shapes"
_REVERSE = f"{_LEGALIZE}.arrays.moved_elements.Reverse"
_TRANSFORM = f"{_LEGALIZE}.arithmetic.fourier.RealFourierTransform"
_SUPPRESSION = f"{_LEGALIZE}.images.suppression"
_LSTMS = "litefuse.conversion.quantization.recurrent"
_SOUNDNESS = "litefuse.litert.runtime.soundness.check_soundness"
_INTERPRETER = "litefuse.litert.runtime.interpreter.Interpreter"


def _fault(name: str, what: str, *places: str, unchecked: str = "", upstream: str = "") -> Fault:
    return Fault(name, Component.KERNELS, what, RUNTIME_VERSION, places, unchecked, upstream)


def _of_bindings(name: str, what: str, *places: str) -> Fault:
    return Fault(name, Component.RUNTIME_BINDINGS, what, RUNTIME_VERSION, places)


RUNTIME: tuple[Fault, ...] = (
    _fault(
        "masked-place",
        "STRIDED_SLICE takes the first element of a dimension that it drops if the bit of the begin mask is set, where "
        "TensorFlow takes the element at begin.",
        f"{_LEGALIZE}.arrays.masked_places.PlaceDespiteMask",
    ),
    _fault(
        "equality-of-bytes",
        "EQUAL of uint8 crashes the process.",
        f"{_LEGALIZE}.dtypes.widened.Widened",
    ),
    _fault(
        "division-by-zero",
        "FLOOR_DIV of float32 refuses a divisor of 0, where TensorFlow gives an infinity or NaN.",
        f"{_LEGALIZE}.arithmetic.division.FloorOfQuotient",
    ),
    _fault(
        "remainder-of-the-smallest",
        "FLOOR_MOD of the smallest int32 or int64 by -1 crashes the process.",
        f"{_LEGALIZE}.arithmetic.division.Remainder",
    ),
    _fault(
        "mean-of-bytes",
        "MEAN of uint8 is computed as for quantized numbers: 0 without a scale.",
        f"{_LEGALIZE}.arithmetic.division.integer_mean",
    ),
    _fault(
        "reversal-of-nothing",
        "REVERSE_V2 along no dimension crashes the process.",
        _REVERSE,
    ),
    _fault(
        "reversal-of-dimensions-apart",
        "REVERSE_V2 fails along dimensions that are not adjacent.",
        _REVERSE,
        "litefuse.ir.builder.Builder.reverse",
    ),
    _fault(
        "segment-without-elements",
        "SEGMENT_SUM fails if a segment has no elements.",
        f"{_LEGALIZE}.arrays.segments.segment",
    ),
    _fault(
        "transform-of-other-lengths",
        "RFFT2D refuses lengths that are not powers of two.",
        _TRANSFORM,
        upstream="https://github.com/tensorflow/tensorflow/issues/84171",
    ),
    _fault(
        "transform-of-one",
        "RFFT2D of length 1 is wrong.",
        _TRANSFORM,
    ),
    _fault(
        "extreme-of-nothing",
        "REDUCE_MAX and REDUCE_MIN of no elements return the lowest and the largest finite float; in XNNPACK, "
        "infinities.",
        f"{_LEGALIZE}.arrays.many_dimensions.ExtremeOfNone",
    ),
    _fault(
        "product-over-nothing",
        "FULLY_CONNECTED of no columns is 0 without its bias; XNNPACK's BATCH_MATMUL refuses them.",
        f"{_LEGALIZE}.linear_algebra.einsum.ProductOverNothing",
    ),
    _fault(
        "volumes-in-groups",
        "CONV_3D supports one group of channels only; the engine writes it with several.",
        f"{_LEGALIZE}.windows.filters.GroupedVolumes",
    ),
    _fault(
        "blocks-of-some-dimensions",
        "SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND only support blocks of all dimensions between the batch and the "
        "channels; the engine writes others.",
        f"{_LEGALIZE}.windows.blocks.Blocks",
    ),
    _fault(
        "quantized-to-a-narrow-range",
        "QUANTIZE also returns the lowest integer, which a narrow range excludes.",
        f"{_LEGALIZE}.dtypes.quantization.FakeQuantize",
    ),
    _fault(
        "suppression-of-empty-boxes",
        "NON_MAX_SUPPRESSION_V4 and V5 select a box without an area, or an infinite one, again and again, and lose "
        "others: what they selected stays among the candidates, and only its overlap with itself suppresses it "
        "(internal/reference/non_max_suppression.h).",
        f"{_SUPPRESSION}.apart",
    ),
    _fault(
        "suppression-at-the-threshold",
        "NON_MAX_SUPPRESSION_V4 and V5 suppress a box whose overlap is the threshold, as if it were above it; with a "
        "threshold of 0, all but one box.",
        f"{_SUPPRESSION}.threshold_above",
    ),
    _fault(
        "suppression-of-equal-scores",
        "NON_MAX_SUPPRESSION_V4 and V5 select any of equal scores first, where TensorFlow selects the lowest index.",
        f"{_SUPPRESSION}.suppressed",
    ),
    _fault(
        "suppression-by-decay",
        "NON_MAX_SUPPRESSION_V5 suppresses by the threshold even with a sigma, where TensorFlow only has scores decay.",
        f"{_LEGALIZE}.images.non_max_suppression.non_max_suppression",
    ),
    _fault(
        "branch-result-twice",
        "IF moves each result out of the branch, and finds nothing where a value is returned for the second time "
        "(tflite/kernels/if.cc).",
        _BRANCH_RESULTS,
    ),
    _fault(
        "branch-not-taken",
        "IF prepares the branch that it does not take, and fails where the sizes do not fit it (tflite/kernels/if.cc).",
        "litefuse.passes.control_flow.branches.defer_branches",
    ),
    _fault(
        "composite-result-twice",
        "STABLEHLO_COMPOSITE moves each result out of its body, as IF does.",
        _BRANCH_RESULTS,
    ),
    _fault(
        "variable-in-a-later-place",
        "WHILE overwrites the current values with the next ones, one after the other: a variable that is yielded at a "
        "later position has been overwritten by then.",
        _OUTLINE,
    ),
    _fault(
        "loop-that-grows-from-nothing",
        "WHILE treats a first size of 0 and one of 1 as equal, keeps the memory, and fails (tflite/kernels/while.cc).",
        _OUTLINE,
    ),
    _fault(
        "packed-shape",
        "PACK of sizes is computed in each call, though they are known when the model is prepared: so ops after a "
        "reshape to them are prepared in the middle of a call.",
        _SHAPES,
    ),
    _fault(
        "slice-of-known-sizes",
        "SLICE with computed sizes computes its shape in each call, though they are known when the model is prepared.",
        _SHAPES,
    ),
    _fault(
        "range-of-floats",
        "RANGE of floats computes its shape in each call, though its limits are known when the model is prepared.",
        "litefuse.passes.simplify.neutral_ops",
    ),
    _fault(
        "constant-state",
        "A constant state of an LSTM op is not in the file, begins with zeros, and is kept between calls.",
        _STATES,
    ),
    _fault(
        "state-that-is-prepared-in-a-call",
        "The state of an LSTM op that is prepared in the middle of a call has no memory, which crashes the process.",
        _STATES,
    ),
    _fault(
        "state-of-the-first-batch",
        "The state of an LSTM op, if its size is known before the call, keeps the memory of the first batch: larger "
        "batches are written beyond it.",
        _STATES,
        unchecked="What is beyond that memory differs each time, and most often does not matter.",
    ),
    _fault(
        "merged-directions",
        "BIDIRECTIONAL_SEQUENCE_LSTM that concatenates both directions is wrong for batches of more than one, unless "
        "time comes first.",
        "litefuse.fusions.lstm.bidirectional_sequence_lstm",
    ),
    _fault(
        "integer-peepholes",
        "The peepholes of an integer LSTM are wrong if a projection makes the output of another size than the cells: "
        "the kernel takes the one size for the other.",
        f"{_LSTMS}.operands.reason_for_float",
    ),
    _fault(
        "projected-zero-point",
        "An integer LSTM negates the zero point of what it projects, so that half of its range is cut off.",
        f"{_LSTMS}.quantized_forms.make_integers",
    ),
    _fault(
        "cell-state-of-other-ranges",
        "An integer LSTM takes no hyperbolic tangent of a cell state whose range is below 1 or above 64, and goes on "
        "with what is in memory.",
        f"{_LSTMS}.quantized_forms.cell_scale",
    ),
    _fault(
        "outputs-behind-two-gigabytes",
        "The list of a subgraph's outputs is only found within the first 2 GB of a file.",
        "litefuse.conversion.verify.layers.observed_copy.ObservedCopy",
        unchecked="It needs a file of more than 2 GB.",
    ),
    _fault(
        "unread-output",
        "An unused output of a custom op gets no memory.",
        "litefuse.litert.runtime.outputs.Outputs",
    ),
    _fault(
        "op-without-its-operand",
        "An op that lacks an operand that its kernel reads crashes the process.",
        _SOUNDNESS,
        "litefuse.litert.runtime.builtin_ops",
    ),
    _fault(
        "value-of-a-later-op",
        "An op on a value that is computed later, or by no op, runs nevertheless.",
        _SOUNDNESS,
    ),
    _fault(
        "subgraph-that-calls-itself",
        "A subgraph that calls itself crashes the process.",
        _SOUNDNESS,
    ),
    _fault(
        "strings-beyond-their-tensor",
        "Strings with offsets outside their tensor are read out of bounds, which crashes the process.",
        _SOUNDNESS,
    ),
    _of_bindings(
        "name-that-is-no-text",
        "A signature with names that are not valid UTF-8 cannot be run: a UnicodeDecodeError is raised.",
        _SOUNDNESS,
    ),
    _of_bindings(
        "message-that-is-no-text",
        "An error whose message is not valid UTF-8 becomes a UnicodeDecodeError.",
        _INTERPRETER,
    ),
    _of_bindings(
        "repeated-messages",
        "An error repeats the messages of all errors before it.",
        _INTERPRETER,
    ),
    _of_bindings(
        "scalar-object",
        "For a scalar input of dtype object, the address of the object is read as the bytes of the string.",
        _INTERPRETER,
    ),
    _of_bindings(
        "scalar-characters",
        "For a scalar input of a numpy str dtype, each character is read as four bytes.",
        _INTERPRETER,
    ),
    _of_bindings(
        "result-without-elements",
        "A result without elements cannot be read: a ValueError is raised.",
        f"{_INTERPRETER}.get_tensor",
    ),
    _of_bindings(
        "input-that-is-called-self",
        "The runner of a signature does not accept an input with the name self.",
        "litefuse.litert.runtime.interpreter.SignatureRunner",
    ),
)
"""The faults, grouped by subject."""
