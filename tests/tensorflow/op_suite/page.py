"""How each op is converted, for docs/reference/ops.md: from the suite's verdicts, decompositions and kernels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from litefuse.kernels import PACK
from litefuse.passes.legalize.decomposition import decomposed_ops
from tests.tensorflow.op_suite.case import Case
from tests.tensorflow.op_suite.suite import CASES, recorded

_OUTCOMES = ("converts", "refuses", "wrong")
_NOT_MEASURED = "not measured"
_FORMS = {
    "builtin": "builtin",
    "rewritten": "rewritten",
    "composite": "rewritten (composite)",
    "runtime": "kernel of LiteRT",
    "kernel": "kernel of the pack",
}


def made() -> str:
    """The counts and tables of docs/reference/ops.md."""
    ours, stock = recorded("litefuse"), recorded("stock")
    by_op: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        by_op[case.op].append(case)
    lines = [_counts(ours, stock, by_op), "## The ops", ""]
    lines += ["| op | converts | how | TensorFlow's converter | not converted |", "|---|---|---|---|---|"]
    lines += [_row(op, by_op[op], ours, stock) for op in sorted(by_op)]
    others = sorted(decomposed_ops().keys() - by_op.keys())
    kernels = sorted(set(PACK) - set(by_op))
    lines += [
        "",
        "## Not in the suite",
        "",
        f"Also rewritten: {', '.join(others)}.",
        "",
        f"With a kernel in the pack: {', '.join(kernels)}.",
    ]
    return "\n".join(lines)


def _counts(ours: Mapping[str, str], stock: Mapping[str, str], by_op: Mapping[str, Sequence[Case]]) -> str:
    rows = [
        f"{len(by_op)} ops, {len(CASES)} cases:",
        "",
        f"| | {' | '.join(_OUTCOMES)} | {_NOT_MEASURED} | ops with a case that converts |",
    ]
    rows.append("|---|" + "---|" * (len(_OUTCOMES) + 2))
    for name, verdicts in (("litefuse", ours), ("TensorFlow's converter", stock)):
        counts = Counter(_outcome(verdicts, case) for case in CASES)
        ops = sum(any(_outcome(verdicts, case) == "converts" for case in cases) for cases in by_op.values())
        cells = [*(str(counts[outcome]) for outcome in _OUTCOMES), str(counts[_NOT_MEASURED]), str(ops)]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _row(op: str, cases: Sequence[Case], ours: Mapping[str, str], stock: Mapping[str, str]) -> str:
    converted = [case for case in cases if _outcome(ours, case) == "converts"]
    forms = sorted({_FORMS.get(form, form) for case in converted for form in _detail(ours, case).split("+")})
    theirs = Counter(_outcome(stock, case) for case in cases)
    measured = len(cases) - theirs[_NOT_MEASURED]
    dtypes = list(dict.fromkeys(map(_dtype, converted)))
    reasons = Counter[str]()
    lacking: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        if case not in converted:
            reason = _detail(ours, case).removeprefix(f"{op}: ").replace("|", "\\|")
            reasons[reason] += 1
            lacking[reason].append(_dtype(case))
    refused = "; ".join(f"{', '.join(dict.fromkeys(lacking[reason]))}: {reason}" for reason in reasons)
    cells = [
        f"`{op}`",
        ", ".join(dtypes) or "-",
        ", ".join(forms) or "-",
        f"{theirs['converts']} of {measured} cases" if measured else _NOT_MEASURED,
        refused,
    ]
    return f"| {' | '.join(cells)} |"


def _dtype(case: Case) -> str:
    """The dtype that tells the cases of an op apart: that of the first operand that is no int32 constant."""
    for operand in case.operands:
        for each in operand if isinstance(operand, list) else [operand]:
            dtype = str(each.dtype)
            if dtype not in ("int32", "bool") or len(case.operands) == 1:
                return dtype
    inputs = case.inputs
    return str(inputs[0].dtype) if inputs else "int32"


def _outcome(verdicts: Mapping[str, str], case: Case) -> str:
    return verdicts.get(str(case), _NOT_MEASURED).partition(":")[0]


def _detail(verdicts: Mapping[str, str], case: Case) -> str:
    return verdicts.get(str(case), "").partition(": ")[2]
