"""Formulas for the sizes of what ops compute, by the rules for their shapes."""

from __future__ import annotations

import re
from collections.abc import Hashable

import pytest

from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.ops.dims import Dim, Operation
from litefuse.passes.tensor_lists.list_sizes import LIST_RULES
from litefuse.passes.tensor_lists.op_results import Number, SizeOf
from litefuse.passes.tensor_lists.sizes import Sizes


def _text(size: Dim) -> str:
    """``x0`` is dimension 0 of the argument x, ``n`` the scalar n, ``p[1]`` an element of the vector p."""
    if isinstance(size, int):
        return str(size)
    terms: list[str] = []
    for symbols, factor in size.terms:
        factors = [str(factor)] if factor != 1 or not symbols else []
        terms.append("*".join([*factors, *sorted(_name(symbol.name) for symbol in symbols)]))
    return "+".join(sorted(terms, reverse=True)).replace("+-", "-")


def _name(name: Hashable) -> str:
    match name:
        case SizeOf(value, axis):
            return f"{_value(value)}{axis}"
        case Number(value, index):
            return _value(value) if index is None else f"{_value(value)}[{index}]"
        case Operation("floordiv", (a, b)):
            return "//".join(f"({text})" if set("+-") & {*text} else text for text in map(_text, (a, b)))
        case Operation(operator, operands):
            return f"{operator}({', '.join(sorted(map(_text, operands)))})"
        case _:
            raise TypeError(name)


def _value(value: ir.Value) -> str:
    if isinstance(value.owner, ir.Block):
        return "xynpil"[ir.BlockArgument(value).arg_number]
    return f"<{value.owner.name.removeprefix('tf.')}>"


# The types of x, y, n, p and i, and of others.
_TYPES = {
    "X": "tensor<?x?x3xf32>",
    "Y": "tensor<?x3xf32>",
    "N": "tensor<i32>",
    "P": "tensor<2xi32>",
    "I": "tensor<?xi32>",
    "IMAGE": "tensor<?x?x?x2xf32>",
    "ONE": "tensor<1xi32>",
    "SHAPE": "tensor<3xi32>",
    "MATRIX": "tensor<?x?xf32>",
    "CUBE": "tensor<?x?x?xf32>",
    "F": "tensor<f32>",
    "NONE": "tensor<0xi32>",
    "DIMS": "tensor<4xi32>",
    "PADS": "tensor<2x2xi32>",
    "KERNEL": "tensor<3x3x2x2xf32>",
    "PLACES_IN_CUBE": "tensor<?x?x?xi32>",
    "PLACES": "tensor<?x3xi64>",
    "L": "tensor<2xi64>",
    "LIST": "tensor<!tf_type.variant>",
}
_MASKS = "begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64"
_WINDOW = 'strides = [1, 2, 1, 1], data_format = "NHWC"'

# Ops and the types of their operands and results; the sizes of the first result are asked for.
_CASES = [
    ('"tf.Tanh"(%x)', "X -> X", "x0 x1 3"),
    ('"tf.AddV2"(%x, %y)', "X Y -> X", "x0 broadcast(x1, y0) 3"),
    ('"tf.AddV2"(%x, %x)', "X X -> CUBE", "x0 x1 3"),
    ('"tf.MatMul"(%y, %y) {transpose_a = true, transpose_b = false}', "Y Y -> MATRIX", "3 3"),
    ('"tf.MatMul"(%y, %y) {transpose_a = false, transpose_b = true}', "Y Y -> MATRIX", "y0 y0"),
    ('"tf.BatchMatMulV2"(%x, %y) {adj_x = false, adj_y = true}', "X Y -> CUBE", "x0 x1 y0"),
    ('"tf.Einsum"(%x, %y) {equation = "abc,dc->dab"}', "X Y -> CUBE", "y0 x0 x1"),
    ('"tf.Transpose"(%x, %120)', "X SHAPE -> CUBE", "x1 3 x0"),
    ('"tf.ExpandDims"(%y, %m1)', "Y N -> CUBE", "y0 3 1"),
    ('"tf.Pack"(%y, %y) {axis = 1 : i64}', "Y Y -> CUBE", "y0 2 3"),
    ('"tf.ConcatV2"(%x, %x, %one)', "X X N -> X", "x0 2*x1 3"),
    ('"tf.Split"(%one, %x)', "N X -> X X", "x0 x1//2 3"),
    ('"tf.Sum"(%x, %one) {keep_dims = false}', "X N -> MATRIX", "x0 3"),
    ('"tf.Sum"(%x, %one) {keep_dims = true}', "X N -> CUBE", "x0 1 3"),
    ('"tf.GatherV2"(%x, %p, %one) {batch_dims = 0 : i64}', "X P N -> CUBE", "x0 2 3"),
    ('"tf.Pad"(%y, %pads)', "Y PADS -> MATRIX", "y0+3 3"),
    ('"tf.Tile"(%y, %p)', "Y P -> MATRIX", "p[0]*y0 3*p[1]"),
    ('"tf.Fill"(%p, %zero)', "P F -> MATRIX", "p[0] p[1]"),
    ('"tf.Reshape"(%x, %m13)', "X P -> Y", "x0*x1 3"),
    ('"tf.Reshape"(%x, %p)', "X P -> MATRIX", "p[0] p[1]"),
    ('"tf.Slice"(%y, %p, %p)', "Y P P -> MATRIX", "p[0] p[1]"),
    ('"tf.Squeeze"(%x) {squeeze_dims = [1]}', "X -> MATRIX", "x0 3"),
    (f'"tf.StridedSlice"(%x, %n1, %n2, %n2) {{{_MASKS}, shrink_axis_mask = 1 : i64}}', "X ONE ONE ONE -> Y", "x1 3"),
    (
        f'"tf.Conv2D"(%image, %kernel) {{padding = "VALID", dilations = [1, 1, 1, 1], {_WINDOW}}}',
        "IMAGE KERNEL -> IMAGE",
        "x0 1+(x1-3)//2 1 2",
    ),
    ('"tf.CumulativeLogsumexp"(%x, %one) {exclusive = false, reverse = false}', "X N -> CUBE", "x0 x1 3"),
    ('"tf.TopKV2"(%x, %n) {sorted = true}', "X N -> CUBE PLACES_IN_CUBE", "x0 x1 n"),
    ('"tf.Cross"(%y, %y)', "Y Y -> Y", "y0 3"),
    ('"tf.Erfc"(%x)', "X -> X", "x0 x1 3"),
    ('"tf.OneHot"(%i, %n, %zero, %zero) {axis = 0 : i64}', "I N F F -> MATRIX", "n i0"),
    ('"tf.UnsortedSegmentSum"(%y, %i, %n)', "Y I N -> MATRIX", "n 3"),
    ('"tf.MatrixInverse"(%x) {adjoint = false}', "X -> X", "x0 3 3"),
    (
        f'"tf.MaxPool"(%image) {{ksize = [1, 2, 1, 1], padding = "SAME", {_WINDOW}}}',
        "IMAGE -> IMAGE",
        "x0 (x1+1)//2 3 2",
    ),
    (
        '"tf.ResizeBilinear"(%image, %p) {align_corners = false, half_pixel_centers = true}',
        "IMAGE P -> IMAGE",
        "x0 p[0] p[1] 2",
    ),
    # Of what no rule says, the size is that of the value itself.
    ('"tf.Where"(%x)', "X -> PLACES", "<Where>0 3"),
    ('"tf.Sum"(%x, %n) {keep_dims = true}', "X N -> CUBE", "<Sum>0 <Sum>1 <Sum>2"),
    # A begin or an end that is negative counts from the last element: what is computed may be.
    (
        f'"tf.StridedSlice"(%x, %pn, %n2, %n2) {{{_MASKS}, shrink_axis_mask = 0 : i64}}',
        "X ONE ONE ONE -> CUBE",
        "<StridedSlice>0 x1 3",
    ),
    # Sizes that contradict each other are found elsewhere.
    ('"tf.Einsum"(%x, %y) {equation = "ab,dc->ad"}', "X Y -> MATRIX", "<Einsum>0 <Einsum>1"),
]


_CONSTANTS = {
    "120": ("[1, 2, 0]", "SHAPE"),
    "m1": ("-1", "N"),
    "one": ("1", "N"),
    "first": ("0", "N"),
    "zero": ("0.0", "F"),
    "pads": ("[[1, 2], [0, 0]]", "PADS"),
    "m13": ("[-1, 3]", "P"),
    "n1": ("[0]", "ONE"),
    "n2": ("[1]", "ONE"),
    "rest": ("[-1]", "ONE"),
    "none": ("[]", "NONE"),
    "kernel": ("0.0", "KERNEL"),
}
_COMPUTED = [
    ('%pn = "tf.Pack"(%n) {axis = 0 : i64}', "N -> ONE"),
    ('%shape = "tf.Shape"(%x)', "X -> SHAPE"),
    (
        f'%rows = "tf.StridedSlice"(%shape, %n1, %n2, %n2) {{{_MASKS}, shrink_axis_mask = 1 : i64}}',
        "SHAPE ONE ONE ONE -> N",
    ),
    ('%dims = "tf.ConcatV2"(%shape, %rest, %first)', "SHAPE ONE N -> DIMS"),
    ('%image = "tf.Reshape"(%x, %dims)', "X DIMS -> IMAGE"),
]


def _op(op: str, signature: str) -> str:
    operands, results = (", ".join(_TYPES[name] for name in side.split()) for side in signature.split("->"))
    return f"{op} : ({operands}) -> ({results})"


def _module(*ops: str) -> ir.Module:
    """A function of x: [?, ?, 3], y: [?, 3], the scalar n, the vectors p and l of two integers, i of any number."""
    arguments = ", ".join(f"%{name}: {_TYPES[name.upper()]}" for name in "xynpil")
    constants = [
        f'%{name} = "tf.Const"() {{value = dense<{value}> : {_TYPES[kind]}}} : () -> {_TYPES[kind]}'
        for name, (value, kind) in _CONSTANTS.items()
    ]
    body = "\n".join([*constants, *(_op(*each) for each in _COMPUTED), *ops])
    return ir.Module.parse(f"func.func @main({arguments}) {{\n{body}\nreturn\n}}")


def _result(module: ir.Module) -> ir.Value:
    return list(operations(functions(module)["main"]))[-2].results[0]


@pytest.mark.parametrize(("op", "signature", "expected"), _CASES, ids=lambda text: text.split("(")[0].strip('"'))
def test_sizes_of_results(op: str, signature: str, expected: str) -> None:
    count = len(signature.split("->")[1].split())
    with mlir_context():
        module = _module(f"%result:{count} = {_op(op, signature)}")
        result = _result(module)
        sizes = Sizes(functions(module))
        found = [_text(sizes.size(result, axis)) for axis in range(ir.ShapedType(result.type).rank)]
        assert " ".join(found) == expected


# Ops that make lists: the length of a list, then the sizes of its items.
_LISTS = [
    ('"tf.TensorListFromTensor"(%x, %shape) {element_dtype = f32}', "X SHAPE -> LIST", "x0 x1 3"),
    ('"tf.TensorListScatterV2"(%y, %i, %one, %n) {element_dtype = f32}', "Y I N N -> LIST", "n 3"),
    ('"tf.TensorListSplit"(%x, %shape, %l) {element_dtype = f32}', "X SHAPE L -> LIST", "2 l[0] x1 3"),
]


@pytest.mark.parametrize(("op", "signature", "expected"), _LISTS, ids=lambda text: text.split("(")[0].strip('"'))
def test_sizes_of_lists(op: str, signature: str, expected: str) -> None:
    with mlir_context():
        module = _module(f"%result = {_op(op, signature)}")
        result = _result(module)
        sizes = Sizes(functions(module), LIST_RULES)
        assert " ".join(_text(sizes.size(result, axis)) for axis in range(len(expected.split()))) == expected


# Ops that give integers, and what these are.
_NUMBERS = [
    ('"tf.Shape"(%x)', "X -> SHAPE", "x0 x1 3"),
    ('"tf.Size"(%x)', "X -> N", "3*x0*x1"),
    ('"tf.Identity"(%p)', "P -> P", "p[0] p[1]"),
    ('"tf.Cast"(%p)', "P -> P", "p[0] p[1]"),
    ('"tf.AddV2"(%p, %one)', "P N -> P", "p[0]+1 p[1]+1"),
    ('"tf.Mul"(%p, %p)', "P P -> P", "p[0]*p[0] p[1]*p[1]"),
    ('"tf.GatherV2"(%shape, %one, %first) {batch_dims = 0 : i64}', "SHAPE N N -> N", "x1"),
    ('"tf.Prod"(%dims, %n1) {keep_dims = false}', "DIMS ONE -> N", "-3*x0*x1"),
    ('"tf.Pack"(%n, %rows) {axis = 0 : i64}', "N N -> P", "n x0"),
    # Keras takes the maximum over no dimensions of the number of steps.
    ('"tf.Max"(%rows, %none) {keep_dims = false}', "N NONE -> N", "x0"),
    # What is computed of cases goes by its own name.
    ('"tf.Maximum"(%rows, %n)', "N N -> N", "<Maximum>"),
]


@pytest.mark.parametrize(("op", "signature", "expected"), _NUMBERS, ids=lambda text: text.split("(")[0].strip('"'))
def test_numbers(op: str, signature: str, expected: str) -> None:
    with mlir_context():
        module = _module(f"%result = {_op(op, signature)}")
        result = _result(module)
        sizes = Sizes(functions(module))
        shape = ir.ShapedType(result.type).shape
        found = [_text(sizes.number(result, index)) for index in (range(shape[0]) if shape else [None])]
        assert " ".join(found) == expected


def test_a_number_that_is_not_more_than_another() -> None:
    """TensorFlow 1 takes the minimum of the number of steps and the maximum of 1 and that number."""
    with mlir_context():
        larger = _op('%larger = "tf.Maximum"(%one, %n)', "N N -> N")
        module = _module(larger, _op('%result = "tf.Minimum"(%n, %larger)', "N N -> N"))
        assert _text(Sizes(functions(module)).number(_result(module), None)) == "n"


def test_a_size_with_cases_goes_by_the_name_of_its_value() -> None:
    masks = _MASKS.replace("end_mask = 0", "end_mask = 1") + ", shrink_axis_mask = 0 : i64"
    with mlir_context():
        sliced = _op(f'%part = "tf.StridedSlice"(%x, %n2, %n1, %n2) {{{masks}}}', "X ONE ONE ONE -> CUBE")
        module = _module(sliced, _op('%result = "tf.Tanh"(%part)', "CUBE -> CUBE"))
        sizes = Sizes(functions(module))
        size = sizes.size(_result(module), 0)
        assert _text(size) == "<StridedSlice>0"
        assert _text(sizes.expanded(size)) == "maximum(0, x0-1*minimum(1, x0))"


_BRANCHES = """
func.func @main(%x: Y, %p: tensor<i1>) {
  %0 = "tf.PartitionedCall"(%p, %x, %x) {f = @outer, config = "", config_proto = "", executor_type = ""} : CALL
  return
}
func.func private @outer(%p: tensor<i1>, %a: Y, %b: Y) -> KIND {
  %0 = "tf.If"(%p, %a, %b) {then_branch = @then, else_branch = @else, is_stateless = true} : CALL
  return %0 : KIND
}
func.func private @then(%a: Y, %b: Y) -> KIND {
  %0 = THEN
  return %0 : KIND
}
func.func private @else(%a: Y, %b: Y) -> KIND {
  %0 = ELSE
  return %0 : KIND
}
"""


def _of_operand(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Dim:
    del result
    return sizes.size(op.operands[0], axis)


@pytest.mark.parametrize(
    ("kind", "then", "otherwise"),
    [
        ("Y", '"tf.Tanh"(%a) : (Y) -> Y', '"tf.Tanh"(%b) : (Y) -> Y'),
        ("O", '"tf.OptionalFromValue"(%a) : (Y) -> O', '"tf.OptionalNone"() : () -> O'),  # which nobody looks at
    ],
    ids=["of equal values outside", "of nothing"],
)
def test_sizes_of_branches_that_agree(kind: str, then: str, otherwise: str) -> None:
    text = _BRANCHES.replace("CALL", "(tensor<i1>, Y, Y) -> KIND").replace("KIND", kind)
    text = text.replace("THEN", then).replace("ELSE", otherwise)
    types = {"Y": "tensor<?x3xf32>", "O": "tensor<!tf_type.variant>"}
    text = re.sub(r"\b[YO]\b", lambda found: types[found[0]], text)
    with mlir_context():
        module = ir.Module.parse(text)
        size = Sizes(functions(module), {"tf.OptionalFromValue": _of_operand}).size(_result(module), 0)
        assert _text(size) == "x0"


def test_thousands_of_ops_do_not_exhaust_the_stack() -> None:
    count = 3000
    elementwise = [_op(f'%v{n + 1} = "tf.Tanh"(%{f"v{n}" if n else "x"})', "X -> X") for n in range(count)]
    sums = [_op(f'%w{n + 1} = "tf.AddV2"(%{f"w{n}" if n else "n"}, %one)', "N N -> N") for n in range(count)]
    joined = [
        _op(f'%z{n + 1} = "tf.ConcatV2"(%{f"z{n}" if n else "y"}, %y, %first)', "Y Y N -> Y") for n in range(count)
    ]
    with mlir_context():
        assert _text(Sizes(functions(module := _module(*elementwise))).size(_result(module), 0)) == "x0"
        assert re.fullmatch(
            r"<AddV2>\+\d+", _text(Sizes(functions(module := _module(*sums))).number(_result(module), None))
        )
        found = _text(Sizes(functions(module := _module(*joined))).size(_result(module), 0))
        assert re.fullmatch(r"<ConcatV2>0\+\d+\*y0", found)
