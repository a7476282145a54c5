"""Entries of reports that few conversions have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from litefuse.support.records import Record


class KernelReport(Record):
    """A kernel that was generated from a composite's body.

    Attributes:
        error: The largest relative difference from the body.
        kernel_seconds: How long a call takes with the kernel, on one thread.
        body_seconds: How long the body takes in LiteRT with XNNPACK, on one thread.
    """

    error: float
    kernel_seconds: float
    body_seconds: float

    def __str__(self) -> str:
        return (
            f"{self.body_seconds / max(self.kernel_seconds, 1e-9):.1f} times as fast as its body "
            f"({self.kernel_seconds * 1e6:,.0f} µs, not {self.body_seconds * 1e6:,.0f}), error {self.error:.1g}"
        )


class ChainReport(Record):
    """The outcome of a chain of ops that nobody marked, with ``generate_kernels``.

    Attributes:
        name: The name of the composite that was made of it, or was tried; chains that compute the same have one name.
        first: The name of its first op.
        last: The name of its last op.
        layer: The name of the tensor that it computes last.
        ops: The number of its ops.
        count: How many such chains there are.
        kernel: The kernel that was generated for it; None if its ops stayed as they were.
        reason: Why they did.
    """

    name: str
    first: str
    last: str
    layer: str
    ops: int
    count: int
    kernel: KernelReport | None = None
    reason: str | None = None


class LackingOpReport(Record):
    """The outcome of a TensorFlow op that LiteRT lacks.

    Attributes:
        op: The op's name.
        outcome: ``rewritten``: exactly, into builtin ops; ``composite``: a composite, which has such a rewriting as its
            decomposition for any LiteRT, and is faster with litefuse's kernel; ``narrowed``: into builtin ops that
            compute its int64 values in int32, as requested; ``widened``: into builtin ops that compute its float16 or
            bfloat16 values in float32, between casts; ``runtime``: a custom op that LiteRT has the kernel of;
            ``pack``: a custom op that needs the kernel of litefuse's pack; ``custom``: a custom op, as allowed, that
            needs a kernel from the user.
        reason: For a custom op, why it was not rewritten; empty without a rewriting of this op.
        count: The number of such ops.
    """

    op: str
    outcome: Literal["rewritten", "composite", "narrowed", "widened", "runtime", "pack", "custom"]
    reason: str = ""
    count: int = 0


class LeftOutReport(Record):
    """A signature that was not converted.

    Attributes:
        signature: Its key.
        reason: Why it was not, and how to convert it.
        usable: Whether it can be converted; otherwise the model has it, but it cannot be called.
    """

    signature: str
    reason: str
    usable: bool = True


class LoopReport(Record):
    """A loop that stays a loop or was unrolled, or an unrolled layer that stays unrolled.

    Attributes:
        layer: The layer's name, from the loop's node.
        reason: How it differs from layers that have a LiteRT op, or why it is a loop nevertheless.
    """

    layer: str
    reason: str


class FormReport(Record):
    """A form of a model's recurrent layers that was made for tflite-micro.

    Attributes:
        form: What they are in it.
        size: The file's size in bytes.
        arena: The bytes of the smallest arena that tflite-micro loads it in; None where that is not known.
        problem: Why tflite-micro does not run it; empty if nothing speaks against it.
        chosen: Whether the output has this form.
    """

    form: str
    size: int
    arena: int | None = None
    problem: str = ""
    chosen: bool = False


class RetypedReport(Record):
    """Something whose dtype was changed, as requested.

    Attributes:
        what: Its kind: an input or output of a signature, a variable, a table or an op.
        name: ``SIGNATURE:NAME`` of an input or output, otherwise the name.
        dtype: The dtype in the TensorFlow model.
        new_dtype: The dtype in the output.
        count: How many ops of that name were changed; 1 for anything else.
    """

    what: Literal["input", "output", "variable", "table", "op"]
    name: str
    dtype: str
    new_dtype: str
    count: int = 1


class TargetCheckReport(Record):
    """The check of the written file with the software of its target; :func:`litefuse.check` says more.

    Attributes:
        target: The target.
        verdict: ``accelerated``, ``partly``, ``refused``, ``differs``, ``inconclusive`` or ``unknown``; see
            :data:`litefuse.conversion.verify.targets.target_check.TargetVerdict`.
        text: The verdict in words.
        refused: The refused ops: each kind with its reason.
        facts: What else the software says, as names and texts.
    """

    target: str
    verdict: str
    text: str
    refused: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


class RecognizerReport(Record):
    """The findings of a recognizer that is not litefuse's own.

    Attributes:
        name: The name of the composite that it makes.
        found: How often its formula was found.
        closest: If it was not found, the closest match of its formula and the difference; None if there is none.
    """

    name: str
    found: int
    closest: str | None = None


class LayerReport(Record):
    """A layer that litefuse knows by name, found by what the model computes.

    Attributes:
        name: The name of its composite, such as ``odml.rms_norm``.
        kind: What it is, in words.
        layer: Where it is: the name of the model's layer, or of a node.
        became: What it became: ``inlined``: its own ops, ``STABLEHLO_COMPOSITE``, another op, or why it did not become
            what was wanted.
    """

    name: str
    kind: str
    layer: str
    became: str


class NearLayerReport(Record):
    """Something that is nearly a layer that litefuse knows by name.

    Attributes:
        kind: What it nearly is.
        layer: Where it is.
        reason: What differs.
    """

    kind: str
    layer: str
    reason: str


class RenamedReport(Record):
    """An input or output that was given another name.

    Attributes:
        signature: The key of its signature.
        role: ``inputs`` or ``outputs``.
        original: Its name in the original.
        name: Its name in the file.
    """

    signature: str
    role: str
    original: str
    name: str

    @classmethod
    def all_of(cls, record: Mapping[str, Mapping[str, Mapping[str, str]]]) -> tuple[RenamedReport, ...]:
        """Makes them of the original names by signature, role and new name."""
        return tuple(
            cls(key, role, original, name)
            for key, roles in record.items()
            for role, names in roles.items()
            for name, original in names.items()
        )
