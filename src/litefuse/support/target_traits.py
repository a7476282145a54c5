"""Traits of targets that decide the form of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TargetTraits(NamedTuple):
    """Capabilities of a target; by default, those of LiteRT's interpreter.

    Attributes:
        runtime: What runs or compiles the model, for messages.
        dynamic: Whether dimensions may be known only in a call.
        loops: Whether recurrent layers may be loops; else each becomes one op, or is unrolled.
        integer_loops: Whether it computes right what loops of integers do.
        variables: Whether it takes variable tensors, in which recurrent ops keep their state; else there are none of
            these ops.
        left_loops: What becomes of loops where it has none.
        lacking: LiteRT's ops for recurrent layers that it does not have.
        mixed: Whether it computes with float32 and smaller weights, integers or float16, in one op.
        int4: The granularities of int4 weights that it takes; None for any.
        avoided: LiteRT's ops that it lacks or leaves to a CPU, written as others where these give the same.
        no_integers: LiteRT's ops of which it has no kernel of the integers that follow the name, as in ``EXP int8``.
        xnnpack: Whether XNNPACK computes in int8 on it: ops that it lacks are written as several that it has.
        complex: Whether there are complex numbers.
        flat_ids: Whether GATHER takes only ids of int32 and rank 1.
        constant_ids: Whether GATHER takes constant ids of a computed table.
        shrinks_axes: Whether slices may drop and add axes, and be of any dtype and order.
        keeps_masks: Whether what is added to a mask of large numbers keeps its digits.
        plain_operands: Whether SELECT_V2, BATCH_MATMUL and CUMSUM take only some operands.
        plain_signatures: Whether inputs and outputs are float32, int32 or uint8.
        max_rank: The highest rank of what ops compute with; None for any.
        names: Whether a file for it has the names of tensors inside the model.
        composites: The names of composites that it computes as one op: layers of these names are kept as such.
    """

    runtime: str = "LiteRT"
    dynamic: bool = True
    loops: bool = True
    integer_loops: bool = True
    variables: bool = True
    left_loops: str = ""
    lacking: frozenset[str] = frozenset()
    mixed: bool = True
    int4: tuple[str, ...] | None = None
    avoided: frozenset[str] = frozenset()
    no_integers: frozenset[str] = frozenset()
    xnnpack: bool = True
    complex: bool = True
    flat_ids: bool = False
    constant_ids: bool = True
    shrinks_axes: bool = True
    keeps_masks: bool = True
    plain_operands: bool = False
    plain_signatures: bool = False
    max_rank: int | None = None
    names: bool = True
    composites: frozenset[str] = frozenset()

    @property
    def takes_all_forms(self) -> bool:
        """Whether it takes ops in whatever form LiteRT has them."""
        return (
            not self.avoided
            and not self.flat_ids
            and self.constant_ids
            and self.shrinks_axes
            and self.keeps_masks
            and not self.plain_operands
            and not self.plain_signatures
            and (self.max_rank is None)
        )


def stricter(traits: Sequence[TargetTraits]) -> TargetTraits:
    """Returns what all of several targets can run."""
    if len(traits) == 1:
        return traits[0]
    lacking = {op for trait in traits for op in trait.lacking}
    granularities: list[set[str]] = [set(trait.int4) for trait in traits if trait.int4 is not None]
    return TargetTraits(
        " and ".join(trait.runtime for trait in traits),
        dynamic=all(trait.dynamic for trait in traits),
        loops=all(trait.loops for trait in traits),
        integer_loops=all(trait.integer_loops for trait in traits),
        variables=all(trait.variables for trait in traits),
        left_loops=", and ".join(trait.left_loops for trait in traits if trait.left_loops),
        lacking=frozenset(lacking),
        mixed=all(trait.mixed for trait in traits),
        int4=tuple(sorted(granularities[0].intersection(*granularities))) if granularities else None,
        avoided=frozenset({op for trait in traits for op in trait.avoided}),
        no_integers=frozenset({op for trait in traits for op in trait.no_integers}),
        xnnpack=all(trait.xnnpack for trait in traits),
        complex=all(trait.complex for trait in traits),
        flat_ids=any(trait.flat_ids for trait in traits),
        constant_ids=all(trait.constant_ids for trait in traits),
        shrinks_axes=all(trait.shrinks_axes for trait in traits),
        keeps_masks=all(trait.keeps_masks for trait in traits),
        plain_operands=any(trait.plain_operands for trait in traits),
        plain_signatures=any(trait.plain_signatures for trait in traits),
        max_rank=min((trait.max_rank for trait in traits if trait.max_rank is not None), default=None),
        names=any(trait.names for trait in traits),
        composites=frozenset[str].intersection(*(trait.composites for trait in traits)),
    )
