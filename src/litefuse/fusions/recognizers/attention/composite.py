"""Attention in the form of ``odml.scaled_dot_product_attention``.

::

    q [batch, queries, heads, n], k [batch, keys, key heads, n], v [batch, keys, key heads, m] [, mask]
      -> [batch, queries, heads, m] = softmax(scale * q . k + mask) . v

The heads of the keys are repeated for groups of heads of the queries. The mask, of float32, is added, and broadcast, to
scores ``[batch, heads, queries, keys]``. With ``logit_cap``, ``cap * tanh(scores / cap)`` takes the place of the scores
before that. The source is what LiteRT Torch emits (``litert_torch/generative/layers/scaled_dot_product_attention.py``)
and what LiteRT's delegates take (``tflite/delegates/xnnpack/xnnpack_delegate.cc``, ``VisitDotAttentionNode``, and
``ml_drift_delegate/tflite/model_builder.cc``, ``CompositeSdpaParser``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from litefuse.fusions.recognizers.attention.axes import Axes, Word
from litefuse.fusions.recognizers.attention.reading import Reading
from litefuse.fusions.recognizers.attention.roles import Roles
from litefuse.fusions.recognizers.attention.scores import Mask
from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, select

NAME = "odml.scaled_dot_product_attention"

#: Emits the attention itself, from queries, keys, values and the mask if there is one.
Core: TypeAlias = "Callable[[Sequence[Tensor], Mapping[str, Any]], Tensor]"

# What is added to the score of a masked key: its sum with any score is this number itself, as if it were selected.
_MASKED = -2.3819763e38


@dataclass(frozen=True)
class Form:
    """How to bring an attention's tensors into this form.

    Attributes:
        axes: The sizes of all atoms.
        roles: What they are.
        words: The axes of queries, keys, values and masks, in the order of the arguments.
        places: The places of queries, keys, values and masks among the arguments.
        masks: The masks.
        result: The axes of the result.
        scale: The factor of the products.
        cap: The bound of the scores, if they have one.
        zeroed: The place of the mask that makes weights zero after the softmax; None if none does.
    """

    axes: Axes
    roles: Roles
    words: Sequence[Sequence[Word]]
    places: Sequence[int]
    masks: Sequence[Mask]
    result: Sequence[Word]
    scale: float
    cap: float | None
    zeroed: int | None

    @classmethod
    def of(cls, reading: Reading, roles: Roles) -> tuple[Form, list[ir.Value]]:
        """Returns the form of an attention, and its arguments, each once."""
        tensors = [reading.queries, reading.keys, reading.values]
        values = [*(tensor.value for tensor in tensors), *(mask.value for mask in reading.scores.masks)]
        arguments = list(dict.fromkeys(values))
        words = [*(tensor.words for tensor in tensors), *(mask.words for mask in reading.scores.masks)]
        scores = reading.scores
        return cls(
            scores.axes,
            roles,
            words,
            [arguments.index(value) for value in values],
            scores.masks,
            reading.result.words,
            scores.scale,
            scores.cap,
            reading.zeroed,
        ), arguments

    @property
    def attributes(self) -> dict[str, Any]:
        return {"scale": self.scale} | ({} if self.cap is None else {"logit_cap": self.cap})

    def size(self, word: Word) -> int | None:
        """Returns the size of an axis; None if it is dynamic."""
        sizes = [self.axes.sizes[atom] for atom in word]
        return None if None in sizes else math.prod(size or 0 for size in sizes)

    @property
    def repeated(self) -> bool:
        """Whether keys and values are repeated for the groups.

        XNNPACK knows groups, but takes the sizes of queries in groups for fixed, and a batch for 1 if the keys have one
        head.
        """
        roles = self.roles
        if not roles.groups:
            return False
        sizes = [self.size(word) for word in (roles.batch, roles.query, roles.all_heads)]
        return None in sizes or (self.size(roles.heads) == 1 and sizes[0] != 1)

    @property
    def problem(self) -> str | None:
        """Why it cannot be the composite; None if it can."""
        roles = self.roles
        heads = self.size(roles.all_heads if self.repeated else roles.heads)
        if heads == 1 and self.size(roles.batch) != 1:
            return "XNNPACK takes one head of keys only with a batch of 1, and here the batch is open"
        if None in {heads, self.size(roles.head), self.size(roles.depth)}:
            return "the sizes of its heads are not known"
        return None

    def build(self, b: Builder, arguments: Sequence[Tensor], core: Core) -> Tensor:
        """Builds the attention around its core, from the model's tensors to the model's result."""
        roles = self.roles
        values = [arguments[place] for place in self.places]
        known = self._sizes(b, values)
        heads = roles.all_heads if self.repeated else roles.heads
        keys = [roles.batch, roles.key, heads, roles.head]
        operands = [
            arranged(b, values[0], self.words[0], [roles.batch, roles.query, roles.all_heads, roles.head], known),
            arranged(b, values[1], self.words[1], keys, known, whole=self.repeated),
            arranged(b, values[2], self.words[2], [*keys[:3], roles.depth], known, whole=self.repeated),
        ]
        scores = [roles.batch, roles.all_heads, roles.query, roles.key]
        masks = [
            arranged(b, b.cast(value, "float32"), words, scores, known)
            for value, words in zip(values[3:], self.words[3:], strict=True)
        ]
        if masks:
            operands.append(self._mask(b, masks))
        result = core(operands, self.attributes)
        if self.zeroed is not None:
            # A query all of whose keys are masked has no weights at all.
            anything = b.reduce("Max", masks[self.zeroed], 3, keep_dims=True)
            result = result * b.transpose(anything, [0, 2, 1, 3])
        return arranged(b, result, [roles.batch, roles.query, roles.all_heads, roles.depth], self.result, known)

    def _sizes(self, b: Builder, values: Sequence[ir.Value]) -> dict[int, MixedSize]:
        """Returns the size of each atom that is an axis of a tensor."""
        known: dict[int, MixedSize] = {}
        for value, words in zip(values, self.words, strict=True):
            needed = [word[0] for word in words if len(word) == 1 and word[0] not in known]
            if not needed:
                continue
            sizes = b.sizes(value) if any(self.axes.sizes[atom] is None for atom in needed) else None
            for axis, word in enumerate(words):
                if len(word) == 1 and word[0] in needed:
                    fixed = self.axes.sizes[word[0]]
                    known[word[0]] = fixed if fixed is not None else (sizes or [])[axis]
        return known | {atom: size for atom, size in enumerate(self.axes.sizes) if size is not None}

    def _mask(self, b: Builder, masks: Sequence[Tensor]) -> Tensor:
        """Returns what is added to the scores."""
        kept: Tensor | None = None
        added: Tensor | None = None
        numbers: list[float] = []
        for mask, value in zip(self.masks, masks, strict=True):
            if mask.kind == "add":
                term = value if mask.number == 1 else value * mask.number
                added = term if added is None else added + term
                continue
            numbers.append(mask.number)
            stays = value if mask.kind == "keep" else 1.0 - value
            kept = stays if kept is None else kept * stays
        if kept is not None:
            if math.isinf(min(numbers)):
                term = select(kept > 0.5, b.constant(0, "float32"), -math.inf)
            else:
                term = (1.0 - kept) * _MASKED
            added = term if added is None else added + term
        assert added is not None
        return added


def definition(b: Builder, operands: Sequence[Tensor], attributes: Mapping[str, Any]) -> Tensor:
    """Builds the attention itself of plain ops."""
    q, k, v = (b.transpose(value, [0, 2, 1, 3]) for value in operands[:3])
    shape, (key_heads, keys) = b.sizes(q), (b.size(k, 1), b.size(k, 2))
    batch, heads, queries, _ = shape
    groups = heads != key_heads
    rows = (
        b.product([queries, heads // key_heads]) if isinstance(heads, int) and isinstance(key_heads, int) else queries
    )
    if groups:
        q = b.reshape(q, [batch, key_heads, rows, shape[3]])
    grouped = [*b.known([batch, key_heads]), *b.known([rows, keys])]
    scores = b.op("BatchMatMulV2", [q, k], grouped, "float32", adj_x=False, adj_y=True)
    if groups:
        scores = b.reshape(scores, [batch, heads, queries, keys])
    scale, cap = attributes["scale"], attributes.get("logit_cap")
    if cap is not None:
        scores = b.unary("Tanh", scores * (scale / cap)) * cap
    elif scale != 1:
        scores = scores * scale
    if len(operands) > 3:
        scores = scores + operands[3]
    weights = b.unary("Softmax", scores)
    if groups:
        weights = b.reshape(weights, [batch, key_heads, rows, keys])
    depth = b.size(v, 3)
    result = b.op(
        "BatchMatMulV2", [weights, v], b.known([batch, key_heads, rows, depth]), "float32", adj_x=False, adj_y=False
    )
    if groups:
        result = b.reshape(result, [batch, heads, queries, depth])
    return b.transpose(result, [0, 2, 1, 3])


def arranged(
    b: Builder,
    value: Tensor,
    words: Sequence[Word],
    wanted: Sequence[Word],
    sizes: Mapping[int, MixedSize],
    *,
    whole: bool = False,
) -> Tensor:
    """Moves, merges and splits axes.

    Args:
        b: The builder.
        value: The tensor.
        words: Its axes.
        wanted: The axes to make. One whose atoms the tensor lacks has the size 1; if it lacks some, it is repeated.
        sizes: The sizes of atoms.
        whole: Whether it is repeated in any case.
    """
    if any(len(word) > 1 for word in words):
        split: list[MixedSize] = []
        for axis, word in enumerate(words):
            split += [sizes[atom] for atom in word] if len(word) > 1 else [b.size(value, axis)]
        value = b.reshape(value, split)
    flat: list[int | None] = [atom for word in words for atom in (word or (None,))]
    free = [axis for axis, atom in enumerate(flat) if atom is None]
    order: list[int] = []
    groups: list[list[int]] = []  # the atoms of each wanted axis that there are
    for word in wanted:
        present = [atom for atom in word if atom in flat]
        groups.append(present)
        if present:
            order += [flat.index(atom) for atom in present]
        elif free:
            order.append(free.pop(0))
    value = b.transpose(value, [*order, *free])
    lacks = [len(present) < len(word) and bool(present or whole) for present, word in zip(groups, wanted, strict=True)]
    if any(lacks):
        dims: list[MixedSize] = []
        spread: list[MixedSize] = []
        for present, word in zip(groups, wanted, strict=True):
            atoms = word if present or whole else ()
            dims += [sizes[atom] if atom in present else 1 for atom in atoms] or [1]
            spread += [sizes[atom] for atom in atoms] or [1]
        value = b.broadcast(b.reshape(value, dims), spread)
        groups = [list(word) if present or whole else [] for present, word in zip(groups, wanted, strict=True)]
    if len(b.shape(value)) == len(wanted) and all(len(present) <= 1 for present in groups):
        return value
    return b.reshape(value, [b.product([sizes[atom] for atom in present]) for present in groups])
