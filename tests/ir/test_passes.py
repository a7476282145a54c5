"""Visits of ops by their names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from litefuse.ir.call_graph import all_operations
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import visit_ops
from tests.every import every

_TEXT = """
func.func @first(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tfl.abs"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("a")
  %1 = "tfl.while"(%0) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tfl.pseudo_const"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    "tfl.yield"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    %2 = "tfl.abs"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("b")
    "tfl.yield"(%2) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "tfl.exp"(%1) : (tensor<2xf32>) -> tensor<2xf32> loc("c")
  return %3 : tensor<2xf32>
}
func.func @second(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tfl.abs"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("d")
  return %0 : tensor<2xf32>
}
"""


@pytest.fixture
def module() -> Iterator[ir.Module]:
    with mlir_context():
        yield ir.Module.parse(_TEXT)


def _name(op: ir.OpView) -> str:
    assert isinstance(op.location, ir.NameLoc)
    return op.location.name_str


@pytest.mark.parametrize(("nested", "names"), [(True, ["a", "b", "c", "d"]), (False, ["a", "c", "d"])])
def test_ops_are_visited_in_their_order(module: ir.Module, nested: bool, names: list[str]) -> None:
    visited: list[str] = []

    def note(op: ir.OpView) -> None:
        visited.append(_name(op))

    assert not visit_ops(module, {"tfl.abs": note, "tfl.exp": note}, nested=nested)
    assert visited == names


def test_values_take_the_place_of_results(module: ir.Module) -> None:
    def twice(op: ir.OpView) -> ir.Value:
        once = create_value("tfl.abs", op.results[0].type, op.operands)
        return create_value("tfl.neg", once.type, [once])

    assert visit_ops(module, {"tfl.abs": twice})  # what is emitted is not visited
    text = str(module.operation.get_asm(enable_debug_info=True))
    assert module.operation.verify()
    assert text.count("tfl.abs") == text.count("tfl.neg") == 3
    assert every(f'"{name}"' in text for name in "abd")


def test_a_visitor_answers_whether_it_changed_something(module: ir.Module) -> None:
    def erase(op: ir.OpView) -> bool:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.operation.erase()
        return True

    assert not visit_ops(module, {"tfl.abs": lambda op: False})
    assert visit_ops(module, {"tfl.abs": lambda op: False, "tfl.exp": erase})
    assert "tfl.exp" not in str(module)


def test_a_result_without_uses_needs_no_value(module: ir.Module) -> None:
    assert visit_ops(module, {"tfl.exp": lambda op: [op.operands[0]]})
    (loop,) = [op for op in all_operations(module) if op.name == "tfl.while"]
    loop.results[0].replace_all_uses_with(loop.operands[0])
    assert visit_ops(module, {"tfl.while": lambda op: [None]})
    assert "tfl.while" not in str(module)
