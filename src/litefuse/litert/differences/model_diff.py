"""Differences between two LiteRT files: as plain data, and as a report whose first line is the answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal, cast

from litefuse.litert.differences.changes import (
    Category,
    ComparedFile,
    NameChange,
    OperatorChange,
    SizeChange,
    TensorChange,
    ValueChange,
    WeightChange,
)
from litefuse.support.report.json_form import json_form
from litefuse.support.report.printable import one_line, shortened
from litefuse.support.report.sections import Judgement, Section, count_of, shape_text
from litefuse.support.report.shown import Shown

_COLUMNS = 80
_LISTED = 20
_PLACES = 3
_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}
_JUDGEMENTS: Mapping[str, Judgement] = {"added": "good", "removed": "bad", "changed": "warn", "moved": "unclear"}
_NAMES: Mapping[Category, str] = {
    "signatures": "signatures",
    "operators": "ops",
    "tensors": "tensors",
    "weights": "weights",
    "order": "the order of ops",
    "names": "names of tensors",
    "metadata": "metadata",
    "properties": "other values",
}


@dataclass(frozen=True)
class ModelDiff(Shown):
    """The differences between two LiteRT files.

    Attributes:
        before: The first file.
        after: The second file.
        signatures: The differences of signatures: keys, names, dtypes, shapes, scales.
        operators: The operators that differ.
        tensors: The tensors that differ; those of operators that only one file has are there too.
        weights: The constants that differ. Those of operators that only one file has are not compared.
        names: The tensors that have other names.
        metadata: The metadata that differs, by its name.
        properties: Other values: the description, the schema's version, the names of subgraphs.
        sizes: The parts that have other sizes, those that grew or shrank most first.
        op_counts: The number of each op in both files, where it differs.
        same_weights: How many constants have the same numbers in both.
    """

    _sections_by = "litefuse.litert.differences.model_diff:diff_sections"

    before: ComparedFile
    after: ComparedFile
    signatures: tuple[ValueChange, ...] = ()
    operators: tuple[OperatorChange, ...] = ()
    tensors: tuple[TensorChange, ...] = ()
    weights: tuple[WeightChange, ...] = ()
    names: tuple[NameChange, ...] = ()
    metadata: tuple[ValueChange, ...] = ()
    properties: tuple[ValueChange, ...] = ()
    sizes: tuple[SizeChange, ...] = ()
    op_counts: tuple[ValueChange, ...] = ()
    same_weights: int = 0

    @property
    def verdict(self) -> Literal["identical", "same", "differs"]:
        """``identical``: the same bytes; ``same``: the layout alone differs; ``differs``: see ``categories``."""
        if self.before.sha256 == self.after.sha256:
            return "identical"
        return "differs" if self.categories else "same"

    @property
    def categories(self) -> tuple[Category, ...]:
        """Kinds of difference between the two files."""
        kinds: list[tuple[Category, bool]] = [
            ("signatures", bool(self.signatures)),
            ("operators", any(operator.change != "moved" for operator in self.operators)),
            ("tensors", bool(self.tensors)),
            ("weights", bool(self.weights)),
            ("order", any(operator.change == "moved" for operator in self.operators)),
            ("names", bool(self.names)),
            ("metadata", bool(self.metadata)),
            ("properties", bool(self.properties)),
        ]
        return tuple(category for category, differs in kinds if differs)

    @property
    def same_computation(self) -> bool:
        """Whether they take, compute and give the same, as far as operators, their order of need and constants tell."""
        return not {"signatures", "operators", "tensors", "weights"} & {*self.categories}

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``; NaN and infinities are None."""
        return {
            "verdict": self.verdict,
            "same_computation": self.same_computation,
            "categories": list(self.categories),
            **json_form(self),
        }


def answer(difference: ModelDiff) -> str:
    """Returns the answer in a line."""
    if difference.verdict == "identical":
        return "Identical: the same bytes"
    if difference.verdict == "same":
        return "The same computation in another layout: nothing else differs"
    said = "The same computation; differs in" if difference.same_computation else "Differs in"
    line = f"{said} {', '.join(_category(category, difference) for category in difference.categories)}"
    if len(line) <= _COLUMNS:
        return line
    names = [_NAMES[category] for category in difference.categories]
    line = f"{said} {', '.join(names)}"
    return line if len(line) <= _COLUMNS else f"{said} {', '.join(names[:4])} and {len(names) - 4} more"


def diff_sections(difference: ModelDiff, *, everything: bool = False) -> list[Section]:
    """Returns the sections."""
    texts = _Texts(everything)
    before, after = difference.before, difference.after
    change = f" ({after.size - before.size:+,})" if after.size != before.size else ""
    head = [
        ("before", texts.fit(before.name, 66)),
        ("", f"{count_of(before.size, 'byte')}, SHA-256 {before.sha256[:32]}..."),
        ("after", texts.fit(after.name, 66)),
        ("", f"{count_of(after.size, 'byte')}{change}, SHA-256 {after.sha256[:32]}..."),
    ]
    sections = [Section(answer(difference), head)]
    if difference.signatures:
        sections.append(_values("Signatures", difference.signatures, texts))
    if difference.op_counts:
        rows = [(count.what, f"{count.before:,}", "->", f"{count.after:,}") for count in difference.op_counts]
        sections.append(texts.section("Numbers of ops", rows, _LISTED, right=frozenset({1, 3})))
    sections += _operator_sections(difference.operators, texts)
    sections += _tensor_sections(difference.tensors, texts)
    if difference.weights:
        sections += _weight_sections(difference, texts)
    if difference.names:
        rows = [row for name in difference.names for row in _pair("", name.before, name.after, texts)]
        title = f"Other names: {count_of(len(difference.names), 'tensor')}"
        sections.append(texts.section(title, rows))
    if difference.metadata:
        sections.append(_values("Metadata", difference.metadata, texts))
    if difference.properties:
        sections.append(_values("Other values", difference.properties, texts))
    if difference.sizes:
        sections.append(_size_section(difference, texts))
    return sections


class _Texts:
    """How long lists and names may be; a line's width is without what is in front of it."""

    def __init__(self, everything: bool, width: int = _COLUMNS - 2) -> None:
        self.everything = everything
        self.width = width

    def fit(self, text: str, width: int) -> str:
        text = one_line(text)
        return text if self.everything else shortened(text, width)

    def listed(self, rows: Sequence[Any], count: int = _LISTED) -> Sequence[Any]:
        return rows if self.everything else rows[:count]

    def left(self, rows: Sequence[Any], count: int = _LISTED, what: str = "line") -> str:
        left = 0 if self.everything else max(len(rows) - count, 0)
        return f"and {count_of(left, what)} more; --all lists them" if left else ""

    def section(self, title: str, rows: Sequence[Any], count: int = 2 * _LISTED, **form: Any) -> Section:
        """Returns a section of rows, or of the first of many."""
        return Section(title, self.listed(rows, count), note=self.left(rows, count), **form)


def _category(category: Category, difference: ModelDiff) -> str:
    if category == "operators":
        return f"ops ({_counts([operator for operator in difference.operators if operator.change != 'moved'])})"
    if category == "tensors":
        return f"tensors ({len(difference.tensors):,})"
    if category == "weights":
        largest = max((weight.relative for weight in difference.weights if weight.relative is not None), default=0.0)
        by = f" by up to {largest:.1g}" if largest else ""
        return f"weights ({len(difference.weights):,} of {len(difference.weights) + difference.same_weights:,}{by})"
    count = f" ({len(difference.names):,})" if category == "names" else ""
    return f"{_NAMES[category]}{count}"


def _values(title: str, values: Sequence[ValueChange], texts: _Texts) -> Section:
    rows = [row for value in values for row in _pair(value.what, value.before, value.after, texts)]
    return texts.section(title, rows)


def _pair(what: str, before: Any, after: Any, texts: _Texts) -> Iterable[tuple[str]]:
    """Returns what differs on one line if it fits, else on two or three."""
    one, other = _text(before), _text(after)
    prefix = f"{one_line(what)}: " if what else ""
    line = f"{prefix}{one} -> {other}"
    if len(line) <= texts.width:
        return [(line,)]
    indent = "  " if what else ""
    room = texts.width - len(indent) - 3
    return [
        *([(texts.fit(what, texts.width),)] if what else []),
        (f"{indent}   {texts.fit(one, room)}",),
        (f"{indent}-> {texts.fit(other, room)}",),
    ]


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict) and "scales" in value:
        return _scales(cast("dict[str, Any]", value))
    if isinstance(value, list) and all(size is None or type(size) is int for size in cast("list[Any]", value)):
        return shape_text(cast("list[int | None]", value))
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _scales(value: Mapping[str, Any]) -> str:
    """Describes the scales of a tensor."""

    def number(key: str) -> str:
        shown = value.get(key, 0)
        return f"{shown:.6g}" if isinstance(shown, (int, float)) else f"{shown[0]:.6g} to {shown[1]:.6g}"

    zeros = number("zero_point").replace("0 to 0", "0")
    text = f"scale {number('scale')}, zero point {zeros}"
    if value["scales"] == 1:
        return text
    where = f"for blocks of {value['block']}" if "block" in value else f"along axis {value['axis']}"
    differing = f", {value['differing']:,} of them others" if "differing" in value else ""
    return f"{value['scales']:,} scales {where}: {text.removeprefix('scale ')}{differing}"


def _operator_sections(operators: Sequence[OperatorChange], texts: _Texts) -> list[Section]:
    if not operators:
        return []
    rows: list[tuple[str, ...]] = []
    judgements: list[Judgement] = []
    groups = _groups(operators)
    for group in texts.listed(groups, 2 * _LISTED):
        first = group[0]
        place = " -> ".join(_place(place) for place in (first.place_before, first.place_after) if place is not None)
        if len(group) > 1:
            place = f"{len(group):,} of them: {place}, ..."
        room = _COLUMNS - 8 - len(place)
        rows.append((_SIGNS[first.change], f"{texts.fit(first.name, room)} {place}"))
        wheres = [where for one in group if (where := one.layer or one.result)]
        shown = wheres if texts.everything else wheres[:_PLACES]
        rows += [("", f"  in {texts.fit(where, _COLUMNS - 12)}") for where in shown]
        if len(shown) < len(wheres):
            rows.append(("", f"  and {len(wheres) - len(shown):,} more"))
        rows += _value_rows(first.values, texts)
        judgements.extend(repeat(_JUDGEMENTS[first.change], len(rows) - len(judgements)))
    left = sum(map(len, groups[2 * _LISTED :]))
    note = f"and {count_of(left, 'op')} more; --all lists them" if left and not texts.everything else ""
    return [Section(f"Ops: {_counts(operators)}", rows, judgements=judgements, note=note)]


def _groups(operators: Sequence[OperatorChange]) -> list[list[OperatorChange]]:
    """Returns the operators, those that only moved last, and those of one kind with the same change together."""
    groups: dict[Any, list[OperatorChange]] = {}
    for index, operator in enumerate(operators):
        key = (operator.change, operator.name, repr(operator.values)) if operator.values else index
        groups.setdefault(key, []).append(operator)
    return sorted(groups.values(), key=lambda group: group[0].change == "moved")


def _counts(changed: Sequence[OperatorChange] | Sequence[TensorChange]) -> str:
    kinds = [part.change for part in changed]
    return ", ".join(f"{kinds.count(kind):,} {kind}" for kind in _SIGNS if kind in kinds)


def _value_rows(values: Iterable[ValueChange], texts: _Texts) -> list[tuple[str, ...]]:
    """Returns what differs in a part, in lines below its sign and an indent."""
    narrow = _Texts(texts.everything, _COLUMNS - 7)
    pairs = [_pair(value.what, value.before, value.after, narrow) for value in values]
    return [("", f"  {line}") for pair in pairs for (line,) in pair]


def _place(place: tuple[int, int]) -> str:
    graph, index = place
    return f"#{index}" if not graph else f"#{index} of subgraph {graph}"


def _tensor_sections(tensors: Sequence[TensorChange], texts: _Texts) -> list[Section]:
    if not tensors:
        return []
    # Tensors of operators that only one file has are many, and say less than those that changed.
    ordered = sorted(tensors, key=lambda tensor: (tensor.change != "changed", -tensor.size))
    rows: list[tuple[str, ...]] = []
    judgements: list[Judgement] = []
    for tensor in texts.listed(ordered):
        size = f", {count_of(tensor.size, 'byte')}" if tensor.size else ""
        rows.append((_SIGNS[tensor.change], f"{texts.fit(tensor.name or '(no name)', _COLUMNS - 8 - len(size))}{size}"))
        rows += _value_rows(tensor.values, texts)
        judgements.extend(repeat(_JUDGEMENTS[tensor.change], len(rows) - len(judgements)))
    note = texts.left(ordered, what="tensor")
    return [Section(f"Tensors: {_counts(tensors)}", rows, judgements=judgements, note=note)]


def _weight_sections(difference: ModelDiff, texts: _Texts) -> list[Section]:
    small = [weight for weight in difference.weights if _is_small(weight)]
    compared = [weight for weight in difference.weights if not weight.problem and not _is_small(weight)]
    others = [weight for weight in difference.weights if weight.problem and not _is_small(weight)]
    total = len(difference.weights) + difference.same_weights
    sections: list[Section] = []
    if compared:
        retyped = any(weight.dtype_before != weight.dtype_after for weight in texts.listed(compared))
        rows = [_weight_row(weight, texts, 20 if retyped else 30) for weight in compared]
        note = texts.left(rows, what="constant")
        sections.append(
            Section(
                f"Weights: {len(compared):,} of {total:,} differ",
                texts.listed(rows),
                headings=("constant of", "dtype", "differing", "largest", "relative"),
                right=frozenset({2, 3, 4}),
                note=note or "relative: the largest difference by the largest magnitude before",
            )
        )
    if small:
        pairs = [
            _pair(_constant(weight, texts), list(weight.before or ()), list(weight.after or ()), texts)
            for weight in small
        ]
        lines = [row for rows in pairs for row in rows]
        title = f"Small constants: {len(small):,} of {total:,} differ"
        sections.append(texts.section(title, lines))
    if others:
        lines = [(texts.fit(f"{other.name or '(no name)'}: {other.problem}", texts.width),) for other in others]
        title = f"Weights that cannot be compared: {len(others):,} of {total:,}"
        sections.append(Section(title, texts.listed(lines), note=texts.left(lines, what="constant")))
    return sections


def _is_small(weight: WeightChange) -> bool:
    """Whether a constant is of a few integers, which say more than their difference."""
    values = (*(weight.before or ()), *(weight.after or ()))
    return weight.before is not None and weight.after is not None and all(isinstance(value, int) for value in values)


def _constant(weight: WeightChange, texts: _Texts) -> str:
    return texts.fit(weight.layer or weight.name or "(no name)", 40)


def _weight_row(weight: WeightChange, texts: _Texts, width: int) -> tuple[str, ...]:
    dtype = weight.dtype_before
    if weight.dtype_after != dtype:
        dtype += f" -> {weight.dtype_after}"
    return (
        texts.fit(weight.layer or weight.name or "(no name)", width),
        dtype,
        f"{weight.differing:,}/{weight.elements:,}",
        "" if weight.max_difference is None else f"{weight.max_difference:.2g}",
        "" if weight.relative is None else f"{weight.relative:.2g}",
    )


def _size_section(difference: ModelDiff, texts: _Texts) -> Section:
    names = {"metadata": "(metadata)", "unread": "(buffers that nothing reads)", "files": "(associated files)"}
    names["structure"] = "(structure: ops, tensors, names)"
    rows = [
        (
            texts.fit(size.layer or names.get(size.part, "(no layer)"), 32),
            size.dtype,
            f"{size.before:,}",
            f"{size.after:,}",
            f"{size.after - size.before:+,}",
        )
        for size in difference.sizes
    ]
    headings = ("layer", "dtype", "before", "after", "change")
    return texts.section("Bytes", rows, _LISTED, headings=headings, right=frozenset({2, 3, 4}))
