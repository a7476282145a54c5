"""Functions that tests build, and expressions of what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from litefuse.ir.call_graph import functions, terminator_of
from litefuse.ir.mlir import func, ir, producer
from litefuse.passes.fake_quantization.grid import uniform_of


def f32(*shape: int) -> ir.Type:
    return ir.RankedTensorType.get(list(shape), ir.F32Type.get())


def module_of(kinds: Sequence[ir.Type], build: Callable[..., Any]) -> ir.Module:
    """A module with the function ``main``, which takes arguments of these types, and returns what is built of them."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        main = func.FuncOp("main", ir.FunctionType.get(list(kinds), []))
    block = main.add_entry_block()
    with ir.InsertionPoint(block):
        made = build(*block.arguments)
        results = [made] if isinstance(made, ir.Value) else [*made]
        func.ReturnOp(results)
    main.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(list(kinds), [value.type for value in results])
    )
    return module


def returned(module: ir.Module) -> list[str]:
    """The expressions of what ``main`` returns."""
    return [*map(_shown, terminator_of(functions(module)["main"].entry_block).operands)]


def _shown(value: ir.Value) -> str:
    """The expression that computes a value; ``@scale:zero point`` is the type of integers."""
    uniform = uniform_of(value.type) if isinstance(value.type, ir.ShapedType) else None
    steps = (
        []
        if uniform is None
        else [f"{s:.6g}{f':{z}' if z else ''}" for s, z in zip(uniform.scales, uniform.zero_points, strict=True)]
    )
    kind = "" if uniform is None else f"@{'|'.join(steps)}{'' if uniform.bits == 8 else f' i{uniform.bits}'}"
    owner = value.owner
    if isinstance(owner, ir.Block):
        return f"x{ir.BlockArgument(value).arg_number or ''}{kind}"
    if owner.name in {"tf.Const", "tfl.pseudo_const", "tfl.pseudo_qconst"}:
        value_of = owner.attributes["value"]
        if uniform is not None and uniform.bits == 4:  # the bindings read no such integers
            return f"{str(value_of).partition('<')[2].partition('>')[0]}{kind}"
        return f"{np.array(value_of).reshape(ir.ShapedType(value.type).shape).tolist()}{kind}"
    operands = [_shown(operand) for operand in owner.operands if producer(operand, "tfl.no_value") is None]
    result = f"#{ir.OpResult(value).result_number}" if len(owner.results) > 1 else ""
    return f"{owner.name.partition('.')[2]}({', '.join(operands)}){kind}{result}"
