"""Cases of ops that work element by element."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.op_suite.case import Case, Make, Tensor, around, floats, integers, one_of

F32 = "float32"
_FLOATS = ("float32", "float16", "bfloat16")
_SHAPES: tuple[tuple[int | None, ...], ...] = ((), (None, 3), (2, 3, 1, 4))
_ABOUT_ZERO = around(0.0, 1e-3, -0.3, 0.7, -2.0, 9.0)

# Ops of floats, with the values that they are defined for.
_FLOAT_UNARY: dict[str, Make | None] = {
    "Acos": floats(-1, 1),
    "Acosh": around(1.0, 1.5, 3.0, 1e4),
    "Asin": floats(-1, 1),
    "Asinh": around(0.0, 1e-3, -0.3, 0.7, -2.0, 1e4, 1e10, -1e10),
    "Atan": around(0.0, 1e-3, -0.3, 0.7, -2.0, 1e4),
    "Atanh": floats(-0.99, 0.99),
    "BesselI0": None,
    "BesselI0e": None,
    "BesselI1": None,
    "BesselI1e": None,
    "BesselJ0": around(0.0, 1e-3, -2.4, 2.99, 3.01, -7.0, 40.0),
    "BesselJ1": around(0.0, 1e-3, -2.4, 2.99, 3.01, -7.0, 40.0),
    "Ceil": None,
    "Cos": None,
    "Cosh": _ABOUT_ZERO,
    "Digamma": floats(0.1, 9),
    "Elu": None,
    "Erf": _ABOUT_ZERO,
    "Erfc": _ABOUT_ZERO,
    "Erfinv": floats(-0.99, 0.99),
    "Exp": None,
    "Expm1": around(0.0, 1e-3, -0.3, 0.7, -2.0, 9.0),
    "Floor": None,
    "Lgamma": floats(0.1, 9),
    "Log": floats(0.01, 9),
    "Log1p": around(0.0, 1e-3, -0.3, 0.7, -0.99, 9.0),
    "Ndtri": floats(0.01, 0.99),
    "Reciprocal": floats(0.1, 9),
    "Inv": floats(0.1, 9),
    "Relu6": floats(-9, 9),
    "Rint": one_of(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.2, -0.7),
    "Rsqrt": floats(0.1, 9),
    "Selu": None,
    "Sigmoid": None,
    "Sin": None,
    "Sinh": _ABOUT_ZERO,
    "Softplus": floats(-30, 30),
    "Softsign": None,
    "Sqrt": floats(0, 9),
    "Tan": floats(-1.4, 1.4),
    "Tanh": None,
}

# Ops of floats and integers.
_NUMBER_UNARY = {
    "Abs": ("int8", "int16", "int32", "int64"),
    "Neg": ("int8", "int16", "int32", "int64"),
    "OnesLike": ("int32", "int64", "uint8", "bool"),
    "Relu": ("int8", "int32"),
    "Round": (),
    "Sign": ("int8", "int16", "int32", "int64"),
    "Square": ("int32", "int64"),
    "ZerosLike": ("int32", "int64", "uint8", "bool"),
}

_ARITHMETIC = {
    "Add": ("float32", "int32", "int64"),
    "AddV2": ("float32", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint32"),
    "Sub": ("float32", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint32"),
    "Mul": ("float32", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint32", "complex64"),
    "Maximum": ("float32", "float16", "int8", "int16", "int32", "int64", "uint8"),
    "Minimum": ("float32", "float16", "int8", "int16", "int32", "int64", "uint8"),
    "SquaredDifference": ("float32", "float16", "int32", "int64"),
}
_NOT_ZERO = one_of(-5, -4, -3, -2, -1, 1, 2, 3, 4, 7)
_DIVISION = {
    "Div": ("float32", "int32", "int64", "uint8"),
    "DivNoNan": ("float32", "float16"),
    "FloorDiv": ("float32", "float16", "int8", "int16", "int32", "int64", "uint8"),
    "FloorMod": ("float32", "int8", "int16", "int32", "int64", "uint8"),
    "Mod": ("float32", "int32", "int64"),
    "RealDiv": ("float32", "float16", "bfloat16"),
    "TruncateDiv": ("int8", "int16", "int32", "int64", "uint8"),
    "TruncateMod": ("float32", "int32", "int64"),
}
_COMPARISONS = {
    "Equal": ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "bool", "string"),
    "NotEqual": ("float32", "int8", "int32", "int64", "uint8", "bool", "string"),
    "Greater": ("float32", "int8", "int16", "int32", "int64", "uint8"),
    "GreaterEqual": ("float32", "int8", "int32", "int64", "uint8"),
    "Less": ("float32", "float16", "int8", "int16", "int32", "int64", "uint8"),
    "LessEqual": ("float32", "int8", "int32", "int64", "uint8"),
}
_BITWISE = {
    "BitwiseAnd": ("int8", "int16", "int32", "int64", "uint8", "uint32"),
    "BitwiseOr": ("int8", "int16", "int32", "int64", "uint8", "uint32"),
    "BitwiseXor": ("int8", "int16", "int32", "int64", "uint8", "uint32"),
}

# Two shapes that broadcast.
_PAIRS: tuple[tuple[tuple[int | None, ...], tuple[int | None, ...]], ...] = (
    ((None, 3), (None, 3)),
    ((None, 3), (3,)),
    ((2, 1, 4), (3, 1)),
    ((), (None, 2)),
    ((1, 2, 1, 2, 3), (2, 1, 2, 1, 3)),
    ((2, 1, 1, 2, 1, 3), (1, 2, 2, 1, 2, 1)),
)


def _float_unary() -> list[Case]:
    cases = [Case(op, [Tensor(F32, shape, make)]) for op, make in _FLOAT_UNARY.items() for shape in _SHAPES]
    # A processor that computes in half precision gives an exponential of up to four units in the last place.
    tolerances = {"Exp": 4e-3, "Expm1": 4e-3}
    for op in ("Exp", "Floor", "Log", "Rsqrt", "Sigmoid", "Sqrt", "Tanh", "Erf", "Softplus", "Expm1"):
        cases.append(Case(op, [Tensor("float16", (None, 4), _FLOAT_UNARY[op])], rtol=tolerances.get(op)))
        cases.append(Case(op, [Tensor("bfloat16", (None, 4), _FLOAT_UNARY[op])]))
    return cases


def _number_unary() -> list[Case]:
    cases: list[Case] = []
    for op, dtypes in _NUMBER_UNARY.items():
        cases += [Case(op, [Tensor(F32, shape)]) for shape in _SHAPES]
        cases += [Case(op, [Tensor(dtype, (None, 5))]) for dtype in ("float16", *dtypes)]
    return cases


def _binary() -> list[Case]:
    cases: list[Case] = []
    for op, dtypes in (_ARITHMETIC | _COMPARISONS).items():
        extra = {"incompatible_shape_error": True} if op in ("Equal", "NotEqual") else {}
        cases += [Case(op, [Tensor(dtype, (None, 4))] * 2, extra) for dtype in dtypes]
        cases += [Case(op, [Tensor(F32, a), Tensor(F32, b)], extra) for a, b in _PAIRS[1:]]
        cases += [Case(op, [Tensor("int32", (None, 3)), np.array([1, -2, 4], np.int32)], extra)]
    for op, dtypes in _DIVISION.items():
        for dtype in dtypes:
            unsigned = dtype.startswith("uint")
            divisor = integers(1, 5) if unsigned else _NOT_ZERO
            dividend = floats(0 if unsigned else -99, 99)
            cases.append(
                Case(
                    op,
                    [Tensor(dtype, (None, 8), dividend), Tensor(dtype, (None, 8), divisor)],
                )
            )
        kind = "float32" if "float32" in dtypes else "int32"
        cases += [Case(op, [Tensor(kind, a), Tensor(kind, b, _NOT_ZERO)]) for a, b in _PAIRS[1:4]]
    cases.append(Case("DivNoNan", [Tensor(F32, (None, 4)), Tensor(F32, (None, 4), one_of(0.0, 2.0))]))
    for op, dtypes in _BITWISE.items():
        cases += [Case(op, [Tensor(dtype, (None, 9), integers(0, 100))] * 2) for dtype in dtypes]
        cases.append(Case(op, [Tensor("int32", (None, 3), integers(-(2**31), 2**31)), Tensor("int32", (3,))]))
    for op in ("LeftShift", "RightShift"):
        for dtype in ("int8", "int32", "int64", "uint8", "uint32"):
            low = 0 if dtype.startswith("uint") else -100
            cases.append(
                Case(op, [Tensor(dtype, (None, 9), integers(low, 100)), Tensor(dtype, (None, 9), integers(0, 7))])
            )
    for op in ("LogicalAnd", "LogicalOr"):
        cases += [Case(op, [Tensor("bool", a), Tensor("bool", b)]) for a, b in _PAIRS[:4]]
    return cases


def _others() -> list[Case]:
    special = one_of(0.0, 1.5, np.nan, np.inf, -np.inf, -2.0)
    positive, x = floats(0.1, 5), Tensor(F32, (None, 7))
    cases = [Case(op, [Tensor(F32, shape, special)]) for op in ("IsNan", "IsInf", "IsFinite") for shape in _SHAPES]
    cases += [Case("LogicalNot", [Tensor("bool", shape)]) for shape in _SHAPES]
    cases += [Case("LeakyRelu", [x], {"alpha": alpha}) for alpha in (0.2, 0.0, 1.5)]
    cases += [Case("Pow", [Tensor(F32, a, positive), Tensor(F32, b)]) for a, b in _PAIRS[:4]]
    cases += [
        Case("Pow", [Tensor(dtype, (None, 4), integers(0, 4)), Tensor(dtype, (None, 4), integers(0, 4))])
        for dtype in ("int32", "int64")
    ]
    cases += [Case("Atan2", [Tensor(F32, a), Tensor(F32, b)]) for a, b in _PAIRS[:4]]
    axes = one_of(-1.0, 0.0, 1.0)
    cases.append(Case("Atan2", [Tensor(F32, (64,), axes), Tensor(F32, (64,), axes)]))
    for op in ("Xdivy", "Xlogy", "Xlog1py", "MulNoNan"):
        first, second = one_of(0.0, 1.0, -2.5), one_of(0.0, 0.5, 3.0)
        operands = (second, first) if op == "MulNoNan" else (first, second)
        cases += [
            Case(op, [Tensor(F32, a, operands[0]), Tensor(F32, b, operands[1])])
            for a, b in (_PAIRS[0], _PAIRS[1], _PAIRS[2])
        ]
    cases += [Case("NextAfter", [x, x]), Case("ApproximateEqual", [x, x], {"tolerance": 1.0})]
    cases += [
        Case("Igamma", [Tensor(F32, (None, 3), positive)] * 2),
        Case("Zeta", [Tensor(F32, (3,), floats(2, 5))] * 2),
    ]
    cases += [Case("Igammac", [Tensor(F32, (None, 3), positive)] * 2)]
    cases += [Case("Polygamma", [Tensor(F32, (3,), integers(1, 3)), Tensor(F32, (3,), positive)])]
    cases += [Case("Betainc", [Tensor(F32, (None, 3), positive)] * 2 + [Tensor(F32, (None, 3), floats(0, 1))])]
    cases += [Case("Invert", [Tensor(dtype, (None, 4))]) for dtype in ("int8", "int32", "int64", "uint8", "uint32")]
    cases += [Case("PopulationCount", [Tensor(dtype, (None, 4))]) for dtype in ("int32", "uint8")]
    cases += [Case("ClipByValue", [x, np.array(-0.5, np.float32), np.array(1, np.float32)])]
    cases += [
        Case(
            "ClipByValue", [Tensor("int32", (None, 4)), Tensor("int32", (), one_of(-3)), Tensor("int32", (), one_of(4))]
        )
    ]
    for op in ("Identity", "StopGradient", "Snapshot", "PreventGradient"):
        cases += [Case(op, [x]), Case(op, [Tensor("int64", ())])]
    cases += [Case("CheckNumerics", [x], {"message": "no number"})]
    for op in ("SelectV2", "Select"):
        for dtype in ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool", "string"):
            cases.append(Case(op, [Tensor("bool", (None, 4)), Tensor(dtype, (None, 4)), Tensor(dtype, (None, 4))]))
    cases += [
        Case("SelectV2", [Tensor("bool", (None, 1)), Tensor(F32, (3,)), Tensor(F32, ())]),
        Case("SelectV2", [Tensor("bool", ()), Tensor(F32, (None, 3)), Tensor(F32, (None, 3))]),
        Case("SelectV2", [Tensor("bool", (2, 1, 1, 2, 3)), Tensor(F32, (2, 1, 3)), Tensor(F32, (1, 2, 2, 1, 1))]),
        Case("Select", [Tensor("bool", (None,)), Tensor(F32, (None, 3)), Tensor(F32, (None, 3))]),
        Case("Select", [Tensor("bool", ()), Tensor(F32, (None, 3)), Tensor(F32, (None, 3))]),
    ]
    numbers = (
        "float32",
        "float16",
        "bfloat16",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint32",
        "bool",
    )
    for source in numbers:
        for target in numbers:
            if source != target and (source in ("float32", "int32", "bool") or target in ("float32", "int32", "bool")):
                cases.append(
                    Case("Cast", [Tensor(source, (None, 4), integers(0, 99))], {"DstT": target, "Truncate": False})
                )
    cases += [
        Case("Cast", [Tensor(F32, (None, 9), floats(-5, 5))], {"DstT": target}) for target in ("int32", "int64", "bool")
    ]
    cases += [
        Case("Bitcast", [Tensor(source, (None, 4))], {"type": target})
        for source, target in (
            ("float32", "int32"),
            ("int32", "float32"),
            ("int64", "uint64"),
            ("int32", "uint32"),
            ("uint8", "int8"),
            ("float32", "uint8"),
            ("uint8", "float32"),
            ("int32", "int16"),
            ("int32", "uint8"),
        )
    ]
    cases += [Case("Complex", [x, x], {"Tout": "complex64"})]
    z = Tensor("complex64", (None, 3))
    cases += [
        Case("Real", [z], {"Tout": F32}),
        Case("Imag", [z], {"Tout": F32}),
        Case("ComplexAbs", [z], {"Tout": F32}),
    ]
    cases += [Case("Conj", [z]), Case("Angle", [z], {"Tout": F32})]
    cases += [Case("ConjugateTranspose", [z, np.array([1, 0], np.int32)])]
    cases += [Case("ConjugateTranspose", [Tensor(F32, (None, 3, 2)), np.array([0, 2, 1], np.int32)])]
    for op, make in (
        ("ReluGrad", None),
        ("Relu6Grad", floats(-2, 8)),
        ("EluGrad", None),
        ("SeluGrad", None),
        ("SigmoidGrad", positive),
        ("TanhGrad", None),
        ("SoftplusGrad", None),
        ("SoftsignGrad", None),
        ("SqrtGrad", positive),
        ("RsqrtGrad", positive),
        ("ReciprocalGrad", positive),
        ("InvGrad", positive),
        ("LeakyReluGrad", None),
    ):
        pair = [Tensor(F32, (None, 5), make), Tensor(F32, (None, 5))]
        if op in ("ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "LeakyReluGrad"):
            pair.reverse()
        cases.append(Case(op, list(pair)))
    return cases


CASES: list[Case] = [*_float_unary(), *_number_unary(), *_binary(), *_others()]
"""Every case."""
