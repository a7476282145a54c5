"""Faults in XNNPACK, LiteRT's delegate for CPUs."""

from __future__ import annotations

from tests.ir.engine.fault_table.fault import RUNTIME_VERSION, Component, Fault

_ARRAYS = "litefuse.passes.legalize.arrays"
_ELEMENTARY = "litefuse.passes.legalize.arithmetic.elementary"
_COPIES = "litefuse.passes.finishing.kept_copies.keep_copies"
_PROCESSOR = "It depends on the processor: XNNPACK has different code for each."
_ADDRESSES = "It depends on the addresses of memory, and happens in few of many interpreters."


def _fault(name: str, what: str, *places: str, unchecked: str = "", upstream: str = "") -> Fault:
    return Fault(name, Component.XNNPACK, what, RUNTIME_VERSION, places, unchecked, upstream)


XNNPACK: tuple[Fault, ...] = (
    _fault(
        "concatenation-of-seven-dimensions",
        "CONCATENATION of more than six dimensions is delegated, and fails when the model is prepared.",
        f"{_ARRAYS}.many_dimensions.concatenation",
        f"{_ARRAYS}.many_dimensions.stack",
        "litefuse.ir.builder.Builder.concat",
    ),
    _fault(
        "softmax-of-seven-dimensions",
        "SOFTMAX of more than six dimensions is delegated, and fails when the model is prepared.",
        f"{_ARRAYS}.many_dimensions.of_rows",
    ),
    _fault(
        "split-of-seven-dimensions",
        "SPLIT of more than six dimensions is delegated, and fails when the model is prepared.",
        f"{_ARRAYS}.moved_elements.pieces",
    ),
    _fault(
        "reduction-of-seven-dimensions",
        "SUM, MEAN, REDUCE_MAX and REDUCE_MIN of more than six dimensions are delegated, and fail when the model is "
        "prepared.",
        f"{_ARRAYS}.many_dimensions.Reduction",
    ),
    _fault(
        "product-of-seven-dimensions",
        "FULLY_CONNECTED of more than six dimensions is taken, and fails when the model is prepared; litefuse writes "
        "it, and refuses the file.",
        "litefuse.conversion.verify.written_file",
        upstream="https://github.com/google/XNNPACK/issues/11036",
    ),
    _fault(
        "empty-slice",
        "A slice of size 0 along a dimension is treated as one up to the end.",
        f"{_ARRAYS}.strided_slice.EmptySlice",
    ),
    _fault(
        "concatenation-of-an-empty-slice",
        "A slice of size 0 in a concatenation is treated as the whole tensor that it is a slice of.",
        "litefuse.passes.simplify.neutral_ops",
        "litefuse.ir.builder.Builder.concat",
    ),
    _fault(
        "variable-that-is-both-operands",
        "The copy that READ_VARIABLE makes is elided, and only the first operand of an op becomes the variable: an op "
        "that takes it twice crashes the process.",
        "litefuse.passes.variables.handles_and_reads.separate_reads",
    ),
    _fault(
        "handles-of-one-variable",
        "Two handles of a variable are treated as different variables: one is read before the other is assigned.",
        "litefuse.passes.variables.handles_and_reads.merge_handles",
    ),
    _fault(
        "unnamed-op",
        "The error of an op that fails during shape propagation does not name the op.",
        "litefuse.conversion.verify.failing_op.failing_op",
    ),
    _fault(
        "reciprocal-root-of-zero",
        "RSQRT of 0 is NaN, not infinity.",
        f"{_ELEMENTARY}.ReciprocalRoot",
        "litefuse.passes.legalize.arithmetic.powers.Power",
        unchecked=_PROCESSOR,
    ),
    _fault(
        "logarithm-of-infinity",
        "LOG of infinity is 88, on x86 without AVX-512.",
        "litefuse.passes.legalize.arithmetic.trigonometry.InverseHyperbolic",
        unchecked=_PROCESSOR,
    ),
    _fault(
        "left-out-copies",
        "In loops and branches, a copy is elided in the first call with a larger batch if its result's new memory is "
        "where its operand was in the previous call.",
        _COPIES,
        unchecked=_ADDRESSES,
    ),
    _fault(
        "moved-memory",
        "In a model of which parts are prepared in the middle of a call, an input is sometimes read where it was in "
        "the previous call.",
        _COPIES,
        "litefuse.passes.finishing.prepared_shapes.prepare_shapes",
        unchecked=_ADDRESSES,
    ),
)
"""The faults, grouped by subject."""
