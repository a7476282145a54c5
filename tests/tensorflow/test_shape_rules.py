"""Every rule of shape inference, compared with TensorFlow's own shape function of the op."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

from litefuse.ir.ops.dims import unknown
from litefuse.ir.ops.facts import Op, PartialDims, ShapeError, Tensor, Undecided, array_of, known
from litefuse.ir.ops.rules import RULES
from tests.tensorflow.shape_cases import CASES, Answer, Case, Operand, infer, variants
from tests.tensorflow.string_shape_cases import STRING_CASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow

DTYPES = {
    "bool": "i1",
    "complex64": "complex<f32>",
    "float32": "f32",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "string": "!tf_type.string",
    "uint64": "ui64",
}

# Tables are resources, lists variants; one is an op of the dialect alone, one is too old for new graphs, and the last
# ones are TensorFlow Text's.
WITHOUT_CASE = frozenset(
    {
        *("LookupTableFindV2", "LookupTableSizeV2", "ToBool", "TopK"),
        *("TensorListGather", "TensorListGetItem", "TensorListPopBack", "TensorListStack"),
        *("CaseFoldUTF8", "NormalizeUTF8", "RegexSplitWithOffsets", "TFText>NgramsStringJoin"),
        *("TFText>WhitespaceTokenizeWithOffsetsV2", "UnicodeScriptTokenizeWithOffsets", "WordpieceTokenizeWithOffsets"),
    }
)

# Where TensorFlow says more than it can know, or knows it from an attribute that is part of the type here.
UNFOUNDED: dict[str, Callable[[Case], bool]] = {
    "BatchMatMul": lambda case: None in {operand.shape for operand in case.flat()},
    "EnsureShape": lambda case: True,
    "MatrixDiagV2": lambda case: any(operand.value is None for operand in case.flat()[1:4]),
    "MatrixDiagV3": lambda case: (
        any(operand.value is None for operand in case.flat()[1:4]) or None in (case.flat()[0].shape or ())
    ),
    "MatrixSolve": lambda case: None in {operand.shape for operand in case.flat()},
    "SplitV": lambda case: case.flat()[2].value is None,
}


def tensor(number: int, operand: Operand) -> Tensor:
    shape = operand.shape
    if shape is not None:
        shape = tuple(
            unknown((number, axis), is_size=True) if size is None else size for axis, size in enumerate(shape)
        )
    values = None
    if operand.value is not None and operand.dtype.startswith("int"):
        values = array_of(operand.value.reshape(-1).tolist(), operand.value.shape)
    return Tensor(DTYPES[operand.dtype], shape, values)


def difference(case: Case, answer: Answer) -> str:
    """In what our rule says less than TensorFlow, or something else; empty if in nothing."""
    if isinstance(answer, str) or (case.op in UNFOUNDED and UNFOUNDED[case.op](case)):
        return ""
    results, attributes = answer
    declared = [Tensor(DTYPES.get(dtype, dtype), None) for dtype, _ in results]
    op = Op(case.op, [tensor(*each) for each in enumerate(case.flat())], declared, attributes)
    try:
        ours: Any = RULES[case.op](op)
    except Undecided:
        ours = [None] * len(results)
    except ShapeError as error:
        return f"refused: {error}"
    shapes = cast("list[PartialDims]", ours if isinstance(ours, list) else [ours])
    for found, (_, expected) in zip(shapes, results, strict=True):
        if expected is None:
            continue
        if found is None:
            return f"unknown, not {expected}"
        sizes = known(found) or ()
        if len(sizes) != len(expected):
            return f"{sizes}, not {expected}"
        if any(theirs is not None and size != theirs for size, theirs in zip(sizes, expected, strict=True)):
            return f"{sizes}, not {expected}"
    return ""


def test_every_rule_says_at_least_what_tensorflow_says(tensorflow: TensorFlow) -> None:
    cases = [variant for case in (*CASES, *STRING_CASES) for variant in variants(case)]
    answers = tensorflow.call(infer, cases)
    assert len(answers) == len(cases) > 2500
    accepted: dict[str, int] = defaultdict(int)
    problems: list[str] = []
    for case, answer in zip(cases, answers, strict=True):
        accepted[case.op] += not isinstance(answer, str)
        problem = difference(case, answer)
        if problem:
            shapes = [each.shape if each.value is None else each.value.tolist() for each in case.flat()]
            problems.append(f"{case.op}{shapes} {case.attributes}: {problem}")
    assert not problems, f"{len(problems)} of {len(cases)}:\n" + "\n".join(problems[:200])
    assert min(accepted.values()) > 1, accepted


def test_there_is_a_case_of_every_rule() -> None:
    rules = {name for name in RULES if not name.startswith("tfl.")}
    assert rules - {case.op for case in (*CASES, *STRING_CASES)} - WITHOUT_CASE == set()
