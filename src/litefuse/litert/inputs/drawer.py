"""Draws values for the inputs of one signature."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError
from litefuse.litert.inputs.random_values import Deck, normal, shuffled, uniform, whole
from litefuse.litert.inputs.uses import Box, Count, Domain, Limits, Meaning, Near, Padding, Range, Rows, Use, Words

if TYPE_CHECKING:
    from litefuse.litert.inputs.random_texts import Texts

#: Exclusive upper bounds of integers, tried in turn where a model refuses what its graph allows; None: no bound.
LEVELS = (None, 10, 2, 1)
_SOME = 100
# Numbers for a quantized input are normal, with as many standard deviations in its range: what the ranges inside were
# measured on is as wide at its extremes, and narrower or as narrow in between. Wider numbers would leave these ranges.
_DEVIATIONS = 9.0
_ROWFULS = 8
# So many rows differ where they repeat.
_ROWS = 3


class Manner(NamedTuple):
    """How values are drawn.

    Attributes:
        limit: The exclusive upper bound of integers, one of ``LEVELS``; strings are then single words, known ones with
            the first bound, and of eight letters with others. None: as the graph says.
        scale: The factor of real numbers.
        constant: Whether all numbers of an input are the same.
        covering: Whether only values that pick rows, and words, are dealt.
        halves: Whether real numbers are multiples of one half: sums of few are exact, and many are equal.
        near: Real numbers that are among them.
        in_range: Whether values that pick no row are left out.
        columns: Whether each column of real numbers has its own scale and mean: more boxes pass where scores are high.
        repeated: Whether rows of real numbers repeat, so that scores are equal.
    """

    limit: int | None = None
    scale: float = 1.0
    constant: bool = False
    covering: bool = False
    halves: bool = False
    near: tuple[float, ...] = ()
    in_range: bool = False
    columns: bool = False
    repeated: bool = False


#: How other numbers are drawn where results do not move, one after the other.
OTHER_NUMBERS = (Manner(scale=10), Manner(scale=100), Manner(constant=True))


class Drawer:
    """Draws calls of one signature, different ones each time.

    Args:
        domains: Its inputs.
        random: The source of randomness.
    """

    def __init__(self, domains: Iterable[Domain], random: Random) -> None:
        self._random = random
        self._inputs = {domain.name: _Input(domain, random) for domain in domains}

    @property
    def decks(self) -> list[Deck]:
        """The decks to deal from: rows and words."""
        return [deck for input_ in self._inputs.values() for deck in input_.decks]

    @property
    def left(self) -> dict[str, int]:
        """How many of these have not been dealt, by the inputs that they belong to."""
        left = {name: max((deck.left for deck in input_.decks), default=0) for name, input_ in self._inputs.items()}
        return {name: count for name, count in left.items() if count}

    def settle(self, *, ran: bool) -> None:
        """Counts the values dealt since the last call of this, if the model took them."""
        for deck in self.decks:
            deck.settle(ran=ran)

    def draw(self, shapes: Mapping[str, Sequence[int]], manner: Manner | None = None) -> dict[str, npt.NDArray[Any]]:
        """Draws the inputs of one call.

        Args:
            shapes: Their shapes; inputs that have none are left out.
            manner: How they are drawn.

        Raises:
            InterpreterError: One of them does not fit into memory.
        """
        drawn: dict[str, npt.NDArray[Any]] = {}
        for name in shapes:
            try:
                drawn[name] = self._inputs[name].draw(tuple(shapes[name]), manner or Manner())
            except (MemoryError, ValueError, OverflowError) as error:
                raise InterpreterError(
                    f"no memory for the input {name!r} of the shape {list(shapes[name])}: {error}",
                    hint="Give smaller sizes.",
                ) from error
        return drawn


class _Part(NamedTuple):
    """A part of an input, and its uses.

    Attributes:
        box: The part.
        uses: The uses of the part, and of what contains it.
        low: The least legal value; None if any is legal.
        high: The greatest one.
        deck: The values that pick rows, or are looked up.
    """

    box: Box
    uses: tuple[Use, ...]
    low: int | None
    high: int | None
    deck: Deck | None


class _Input:
    """Draws the values of one input."""

    def __init__(self, domain: Domain, random: Random) -> None:
        self.domain = domain
        self._random = random
        self._calls = 0
        self._texts: Texts | None = None
        if domain.dtype == object:
            from litefuse.litert.inputs.random_texts import Texts  # few models take strings

            self._texts = Texts(domain, random)
        self._parts = [] if self._texts is not None else _parts(domain, random)

    @property
    def decks(self) -> list[Deck]:
        if self._texts is not None:
            return [self._texts.deck] if self._texts.deck is not None else []
        return [part.deck for part in self._parts if part.deck is not None]

    def draw(self, shape: tuple[int, ...], manner: Manner) -> npt.NDArray[Any]:
        self._calls += 1
        dtype = self.domain.dtype
        if self._texts is not None:
            return self._texts.draw(shape, known=manner.covering or manner.limit == LEVELS[1], plain=bool(manner.limit))
        if dtype.kind == "b":
            return self._masks(shape).astype(dtype)
        if dtype.kind == "c":
            real = normal((2, *shape), self._random) * np.float32(manner.scale)
            return (real[0] + 1j * real[1]).astype(dtype)
        if self.domain.scale:
            limits = np.iinfo(dtype)
            every = Range(int(limits.min), int(limits.max))
            steps = np.round(_normal_in(every, normal(shape, self._random), manner.scale))
            return _same(steps.clip(every.low, every.high), manner).astype(dtype)
        if dtype.itemsize == 1 and not self._parts:
            limits = np.iinfo(dtype)
            return _same(whole(int(limits.min), int(limits.max), shape, self._random), manner).astype(dtype)
        if dtype.kind in "iu":
            values = self._integers(shape, manner)
            limits = np.iinfo(dtype)
            return values.clip(limits.min, limits.max).astype(dtype)
        return self._reals(shape, manner).astype(dtype)

    def _reals(self, shape: tuple[int, ...], manner: Manner) -> npt.NDArray[Any]:
        uses = [use for _, use in self.domain.uses]
        if manner.limit is None and Meaning.WHOLE in uses:
            return self._integers(shape, manner)
        if Meaning.IMAGE in uses:
            values: npt.NDArray[Any] = uniform(shape, self._random) * 255
        elif Meaning.POSITIVE in uses:
            values = uniform(shape, self._random) + 0.01
        elif Meaning.MASK in uses and self._calls % 2:
            return self._masks(shape)
        else:
            base = np.asarray(normal(shape, self._random))
            if manner.columns:
                scales = 10 ** (1.5 * uniform(shape[-1:], self._random) - 1)
                base = np.asarray(base * scales + 2 * normal(shape[-1:], self._random), np.float32)
            values = np.asarray(base * np.float32(manner.scale) + 0)  # no negative zero
            values = np.round(2 * values) / 2 if manner.halves else values
            for place, use in self._ranges(shape):
                values[place] = _normal_in(use, base[place], manner.scale)
        if manner.limit is None and not manner.constant:
            constants = [use.value for use in uses if isinstance(use, Near)]
            self._plant(values, [constant * factor for constant in constants for factor in (1, 1.01, 0.99)])
        self._plant(values, manner.near)
        values = _same(values, manner)
        if manner.repeated and shape and values.size:
            rows = values.reshape(-1, shape[-1] if len(shape) > 1 else 1)
            rows[:] = rows[whole(0, min(_ROWS, len(rows)) - 1, (len(rows),), self._random)]
        for place, use in self._ranges(shape):
            values[place] = values[place].clip(use.low, use.high)
        return values

    def _ranges(self, shape: tuple[int, ...]) -> Iterator[tuple[tuple[slice, ...], Range]]:
        """Yields the parts that are quantized, the larger ones first, and their ranges."""
        within: dict[Box, Range] = {}
        for box, use in self.domain.uses:
            if isinstance(use, Range):
                before = within.get(box, use)
                both = Range(max(before.low, use.low), min(before.high, use.high))
                within[box] = both if both.low <= both.high else before
        for box in sorted(within, key=len):
            place = _place(box, shape)
            if place is not None:
                yield place, within[box]

    def _integers(self, shape: tuple[int, ...], manner: Manner) -> npt.NDArray[Any]:
        values = np.zeros(shape, np.int64)
        for part in self._parts or [_Part((), (), None, None, None)]:
            place = _place(part.box, shape)
            if place is None:
                continue
            size = values[place].shape
            drawn = self._part(part, size, manner, _open_size(shape, self.domain.shape))
            values[place] = _same(drawn, manner) if not manner.covering else drawn
        return values

    def _part(self, part: _Part, shape: tuple[int, ...], manner: Manner, open_size: int) -> npt.NDArray[Any]:
        if manner.limit is not None:
            low = part.low or 0
            high = low + manner.limit - 1 if part.high is None else max(low, min(part.high, low + manner.limit - 1))
            return whole(low, high, shape, self._random)
        low = part.low
        high = part.high
        if any(isinstance(use, (Limits, Rows)) and _is_open(use) for use in part.uses):
            high = max(open_size - 1, low or 0) if high is None else min(high, open_size - 1)
        free = np.ones(shape, np.bool_)
        values = np.zeros(shape, np.int64)
        for use in part.uses:
            if isinstance(use, Padding) and _within(use.value, low, high):
                free = ~self._padding(shape)
                values[...] = use.value
        places = np.flatnonzero(free.reshape(-1))
        flat = values.reshape(-1)
        if part.deck is not None and manner.covering:
            flat[places] = self._dealt(part.deck, len(places), shape)
            return values
        flat[places] = self._bulk(part, len(places), low, high, open_size)
        kind = self.domain.dtype
        limits = np.iinfo(kind if kind.kind in "iu" else values.dtype)
        planted = [
            fromkey
            for fromkey in dict.fromkeys(_ends(part, low, high, beyond=not manner.in_range))
            if _within(fromkey, low, high) and _within(fromkey, limits.min, limits.max)
        ]
        chosen = self._planted(len(places), planted)
        flat[places[chosen]] = (planted[-self._calls % len(planted) :] + planted)[: len(chosen)] if len(chosen) else []
        for use in part.uses:
            if use is Meaning.SORTED:
                flat.sort()
            elif isinstance(use, Padding) and values.ndim > 1 and values.size:
                rows = values.reshape(-1, values.shape[-1])
                other = use.value + (1 if _within(use.value + 1, low, high) else -1)
                rows[(rows == use.value).all(1), 0] = other  # models are not made for empty rows
        return values

    def _bulk(
        self, part: _Part, count: int, low: int | None, high: int | None, open_size: int
    ) -> npt.NDArray[np.int64]:
        uses = part.uses
        random = self._random
        if part.deck is not None:
            return part.deck.pick(count)
        if low is not None and high is not None:
            return whole(low, high, (count,), random)
        if lengths := [use.limit for use in uses if isinstance(use, Count)]:
            return whole(0, min(open_size if length is None else length for length in lengths), (count,), random)
        if Meaning.MASK in uses:
            return whole(0, 1, (count,), random)
        if Meaning.IMAGE in uses:
            return whole(0, 255, (count,), random)
        if Meaning.SMALL in uses or Meaning.SORTED in uses:
            return whole(low or 0, (low or 0) + 9, (count,), random)
        least = 0 if self.domain.dtype.kind == "u" else -_SOME
        return whole(least if low is None else low, _SOME if high is None else high, (count,), random)

    def _dealt(self, deck: Deck, count: int, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """Deals values; if a row holds many of them, every second place repeats one value.

        In a sum of all rows of a table, the assignment of rows would not matter.
        """
        if len(shape) < 2 or shape[-1] < 2 or deck.size > _ROWFULS * shape[-1]:
            return deck.deal(count)
        values = np.empty(count, np.int64)
        values[::2] = deck.deal((count + 1) // 2)
        values[1::2] = np.resize(deck.pick(1), count // 2)
        return values[shuffled(count, self._random)]

    def _planted(self, count: int, values: Sequence[int]) -> npt.NDArray[np.int64]:
        """Returns the places of values that are planted among others: most of the places, if there are few."""
        number = min(len(values), max(count - 1, 0)) if count > 1 else min(len(values), count) * (self._calls % 2)
        return shuffled(count, self._random)[:number] if number else np.empty(0, np.int64)

    def _plant(self, values: npt.NDArray[Any], planted: Sequence[float]) -> None:
        places = self._planted(values.size, [0] * len(planted))
        if len(places):  # others of them in each call
            first = self._calls * len(places) % len(planted)
            values.reshape(-1)[places] = [*planted[first:], *planted][: len(places)]

    def _masks(self, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Draws booleans: true at the starts of rows in every other call, else random; the first of a row is true."""
        if len(shape) > 1 and self._calls % 2:
            return (~self._padding(shape)).astype(np.int64)
        values = whole(0, 1, shape, self._random)
        if values.ndim > 1 and values.size:
            values.reshape(len(values), -1)[:, 0] = 1
        return values

    def _padding(self, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Draws the ends of rows: none of the first row, any number in others, never a whole row."""
        if len(shape) < 2 or not math.prod(shape):
            return np.zeros(shape, np.bool_)
        rows = np.prod(shape[:-1], dtype=np.int64)
        lengths = whole(1, max(shape[-1], 1), (int(rows),), self._random)
        if rows > 1 or not self._calls % 2:
            lengths[0] = shape[-1]
        return (np.arange(shape[-1]) >= lengths[:, None]).reshape(shape)


def _same(values: npt.NDArray[Any], manner: Manner) -> npt.NDArray[Any]:
    return np.full_like(values, values.reshape(-1)[0]) if manner.constant and values.size else values


def _normal_in(limits: Range, base: npt.NDArray[Any], scale: float) -> npt.NDArray[Any]:
    """Scales numbers of the standard normal distribution so that they are in a range, but for a few."""
    middle, deviation = (limits.low + limits.high) / 2, (limits.high - limits.low) / _DEVIATIONS
    return np.asarray(middle + base.astype(np.float64) * (deviation * scale), np.float64)


def _parts(domain: Domain, random: Random) -> list[_Part]:
    """Returns the parts of an input, the whole first."""
    boxes = sorted({(), *(box for box, _ in domain.uses)}, key=lambda box: (len(box), box))
    parts: list[_Part] = []
    for box in boxes:
        uses = tuple(use for other, use in domain.uses if _contains(other, box))
        parts.append(_part(box, uses, domain, random))
    if len(parts) > 1 and not any(box == () for box, _ in domain.uses):
        parts[0] = parts[0]._replace(deck=None)
    return parts if domain.uses else []


def _part(box: Box, uses: tuple[Use, ...], domain: Domain, random: Random) -> _Part:
    low: int | None = None
    high: int | None = None
    for use in uses:
        if isinstance(use, Range):
            use = Limits(math.ceil(use.low), math.floor(use.high))  # noqa: PLW2901  of integers that are cast
        if isinstance(use, (Rows, Limits)):
            least = use.low if low is None else low if use.low is None else max(low, use.low)
            greatest = use.high if high is None else high if use.high is None else min(high, use.high)
            if least is None or greatest is None or least <= greatest:
                low, high = least, greatest
    rows = [use for use in uses if isinstance(use, Rows) and use.count]
    keys = [key for use in uses if isinstance(use, Words) for key in use.keys]
    deck: Deck | None = None
    if numbers := _numbers(keys):
        deck = Deck(numbers, random, f"keys of {domain.name}")
    elif rows:
        most = max(rows, key=lambda use: use.count or 0)
        first = most.first if low is None else max(low, most.first)
        last = most.first + (most.count or 0) - 1
        values = range(first, (last if high is None else min(high, last)) + 1)
        weighty = any(use.weighty for use in rows)
        if weighty and values:
            deck = Deck(values, random, most.table or domain.name)
        elif low is None and high is None:
            low, high = first, last
    return _Part(box, uses, low, high, deck)


def _numbers(keys: Sequence[bytes | int]) -> list[int]:
    numbers: list[int] = []
    for key in dict.fromkeys(keys):
        try:
            numbers.append(int(key))
        except ValueError:
            continue
    return numbers


def _ends(part: _Part, low: int | None, high: int | None, *, beyond: bool) -> list[int]:
    """Returns values at boundaries: the ends of tables, the values next to them, and those next to constants."""
    ends: list[int] = [limit for limit in (low, high) if limit is not None]
    for use in part.uses:
        if isinstance(use, Rows) and use.count:
            ends += [use.first, use.first + use.count - 1]
    for use in part.uses:
        if isinstance(use, Rows) and use.count:
            ends += [use.first - 1, use.first + use.count] if beyond else []
        elif isinstance(use, Near) and math.isfinite(use.value):
            ends += [math.floor(use.value), math.floor(use.value) + 1, math.ceil(use.value) - 1]
        elif isinstance(use, Count) and use.limit is not None:
            ends += [0, use.limit, 1]
        elif isinstance(use, Words):
            numbers = _numbers(use.keys)
            ends += [max(numbers) + 1, min(numbers) - 1] if numbers else []
    if not part.uses:
        ends += [0, 1, -1]
    return ends


def _is_open(use: Use) -> bool:
    if isinstance(use, Rows):
        return use.count is None and use.low is not None
    return isinstance(use, Limits) and use.high is None


def _within(value: int, low: int | None, high: int | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _contains(box: Box, other: Box) -> bool:
    """Whether one part contains another."""
    inner = {axis: (start, stop) for axis, start, stop in other}
    return all(axis in inner and start <= inner[axis][0] and inner[axis][1] <= stop for axis, start, stop in box)


def _place(box: Box, shape: tuple[int, ...]) -> tuple[slice, ...] | None:
    """Returns the slices of a part of an array; None if the array is too small for it."""
    cuts = [slice(None)] * len(shape)
    for axis, start, stop in box:
        if axis >= len(shape) or start >= shape[axis]:
            return None
        cuts[axis] = slice(start, stop)
    return tuple(cuts)


def _open_size(shape: Sequence[int], sizes: Sequence[int | None]) -> int:
    return min((given for given, size in zip(shape, sizes, strict=False) if size is None), default=2)
