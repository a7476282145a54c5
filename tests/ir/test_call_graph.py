"""Symbols of functions that a pass makes, where the model has functions of such names; operands of calls."""

from __future__ import annotations

from litefuse.ir.call_graph import calls_in, copy_function, free_symbol, function_symbol, functions, operands_of_calls
from litefuse.ir.mlir import ir, mlir_context
from litefuse.passes.control_flow.lower_for import lower_for


def module_of(*symbols: str) -> ir.Module:
    return ir.Module.parse("\n".join(f"func.func private @{symbol}() {{ return }}" for symbol in symbols))


def test_copies_have_symbols_that_are_not_taken() -> None:
    with mlir_context():
        module = module_of("f", "f_3", "f_4")
        by_symbol = functions(module)
        copies = [function_symbol(copy_function(by_symbol, "f")) for _ in range(3)]
        assert len({"f", "f_3", "f_4", *copies}) == 6
        assert by_symbol.keys() == functions(module).keys() == {"f", "f_3", "f_4", *copies}


def test_free_symbols() -> None:
    with mlir_context():
        module = module_of("f", "f.1", "f.3")
        assert [free_symbol(module, name) for name in ("f", "f.1", "g")] == ["f.2", "f.1.1", "g"]


def test_loops_over_ranges_where_their_symbols_are_taken() -> None:
    with mlir_context():
        module = ir.Module.parse(
            """
func.func private @step(%i: tensor<i32>) { return }
func.func private @step.for.cond() { return }
func.func private @step.for.cond.5() { return }
func.func private @step.for.body() { return }
func.func @main(%i: tensor<i32>) {
  "tf.For"(%i, %i, %i) {body = @step} : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  return
}
"""
        )
        assert lower_for.run(module)
        assert module.operation.verify()
        assert {"step.for.cond.1", "step.for.body.1"} <= functions(module).keys()


def test_the_operands_of_calls() -> None:
    """None at all, where an op passes other operands than arguments, or a loop passes others each time."""
    attributes = 'config = "", config_proto = "", executor_type = ""'
    types = "(tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)"
    call = f'"tf.PartitionedCall"(%x, %x) {{f = @f, {attributes}}} : {types}'
    loop = f'"tf.While"(%x, %x) {{cond = @g, body = @f, is_stateless = true}} : {types}'
    other = '"tfl.custom"(%x) {custom_code = "f", custom_option = #tfl<const_bytes : "0x">, decomposition = @f}'
    other += " : (tensor<f32>) -> (tensor<f32>, tensor<f32>)"
    for ops, counts in (([call], [2]), ([call, call], [2, 2]), ([call, other], []), ([call, loop], []), ([], [])):
        body = "\n".join(f"%{number}:2 = {op}" for number, op in enumerate(ops))
        arguments = "(%x: tensor<f32>, %y: tensor<f32>)"
        with mlir_context():
            module = ir.Module.parse(
                f"func.func private @f{arguments} -> (tensor<f32>, tensor<f32>) {{\n"
                "return %x, %y : tensor<f32>, tensor<f32>\n}\n"
                f"func.func private @g{arguments} -> tensor<i1> {{\n"
                '%c = "tf.Less"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<i1>\nreturn %c : tensor<i1>\n}\n'
                f"func.func @main(%x: tensor<f32>) {{\n{body}\nreturn\n}}"
            )
            operands = operands_of_calls(calls_in(module), functions(module)["f"])
            assert [len(of_call) for of_call in operands] == counts
