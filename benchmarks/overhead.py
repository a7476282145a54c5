"""What a call of a kernel in Python costs: a chain of kernels that touch their arrays and leave them.

Run it as ``python benchmarks/overhead.py``. The time of a call is that of a chain of 101 less that of one, by 100: the
best of 20 rounds. Beside it, in the same run, the time of one of the runtime's own ops (ABS of six numbers).
"""

from __future__ import annotations

import time
from typing import Any

import flatbuffers
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

import litefuse

_NODES = 101
_SHAPE = (2, 3)


class Nothing(litefuse.CustomOp):
    """Touches its arrays."""

    op_name = "Nothing"

    def prepare(self, x: litefuse.TensorSpec, *, size: int) -> litefuse.TensorSpec:
        assert size
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, size: int) -> None:
        assert inputs[0].size == outputs[0].size == size


def chain(nodes: int, *, custom: bool) -> bytes:
    """A model of that many ops in a row."""
    code, graph, model = schema.OperatorCodeT(), schema.SubGraphT(), schema.ModelT()
    code.builtinCode = schema.BuiltinOperator.CUSTOM if custom else schema.BuiltinOperator.ABS
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.customCode, code.version = ("Nothing" if custom else None), 1
    graph.tensors, graph.operators, graph.name = [], [], "main"
    for index in range(nodes + 1):
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type = f"t{index}", list(_SHAPE), schema.TensorType.FLOAT32
        graph.tensors.append(tensor)
    options = flexbuffers.Builder()
    with options.Map():
        options.Key("size")
        options.Int(_SHAPE[0] * _SHAPE[1])
    data = list(bytes(options.Finish()))
    for index in range(nodes):
        operator = schema.OperatorT()
        operator.inputs, operator.outputs = [index], [index + 1]
        operator.customOptions = data if custom else None
        graph.operators.append(operator)
    graph.inputs, graph.outputs = [0], [nodes]
    model.version, model.subgraphs, model.buffers, model.operatorCodes = 3, [graph], [schema.BufferT()], [code]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def seconds(nodes: int, *, custom: bool) -> float:
    """The best time of an invocation."""
    interpreter = litefuse.Interpreter(model_content=chain(nodes, custom=custom), custom_ops=[Nothing])
    interpreter.allocate_tensors()
    rounds: list[float] = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(20):
            interpreter.invoke()
        rounds.append((time.perf_counter() - start) / 20)
    return min(rounds)


def main() -> None:
    """Prints both times and their ratio."""
    python, builtin = (
        (seconds(_NODES, custom=custom) - seconds(1, custom=custom)) / (_NODES - 1) for custom in (True, False)
    )
    print(f"a call of a kernel in Python {python * 1e6:.2f} us, of the runtime's ABS {builtin * 1e6:.2f} us")
    print(f"ratio {python / builtin:.1f}")


if __name__ == "__main__":
    main()
