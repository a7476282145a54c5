"""Generators of random ops with seeds, as variables: the numbers of each call follow those of the call before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import all_operations
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.purity import replace_op
from litefuse.ir.tensors import Tensor, minimum
from litefuse.ir.types import TensorType, assign_variable, ranked_tensor_type, tensor_type_of
from litefuse.passes.variables.freeze_variables import initializer

# Ops that LiteRT lacks, with the stateless op that draws the same numbers from a generator that is given. LiteRT's
# RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL and MULTINOMIAL have generators of their own.
_STATELESS = {
    "tf.RandomShuffle": "StatelessShuffle",
    "tf.RandomUniformInt": "StatelessRandomUniformIntV2",
    "tf.TruncatedNormal": "StatelessTruncatedNormalV2",
}
_PHILOX = 1
# How many groups of four words TensorFlow reserves for each number.
_RESERVED = 256


@dataclass(frozen=True)
class KeepGenerators:
    """Rewrites random ops with seeds into stateless ones, whose counter is a variable::

                                                 %c = tf.ReadVariableOp(%v)
        %y = tf.RandomUniformInt(%shape)   -->   %y = tf.StatelessRandomUniformIntV2(%shape, seed, [%c, seed2])
                                                 tf.AssignVariableOp(%v, %c + 256 * size of %y)

    Each op has a generator of its own, as in TensorFlow, so calls are inlined before. The counter is int64 ``[1]``, of
    groups of four 32-bit words.

    Source: tensorflow/core/util/guarded_philox_random.cc, kernels/random_op.cc and random_shuffle_op.cc.

    Attributes:
        initializers: Filled with the symbol of the function that sets the counters to 0, if there are any.
    """

    name = "keep-generators"
    initializers: list[str]

    def run(self, module: ir.Module) -> bool:
        drawing = [op for op in all_operations(module, nested=False) if _has_generator(op)]
        if not drawing:
            return False
        b = Builder()
        with ir.Location.unknown(), initializer(module, "initialize_generators", self.initializers):
            for number in range(len(drawing)):
                assign_variable(_handle(number), b.constant([0], "int64"))
        for number, op in enumerate(drawing):
            with ir.InsertionPoint(op), op.location:
                result = _drawn(b, op, _handle(number))
            replace_op(op, [result])
        return True


def _has_generator(op: ir.OpView) -> bool:
    """Whether it is an op with a seed that has a stateless form."""
    if op.name not in _STATELESS or not any(_seeds(op)):
        return False
    result = tensor_type_of(op.results[0])
    if op.name == "tf.RandomShuffle":
        return bool(result.shape)  # a scalar is not shuffled
    return result.dtype in {"float32", "int32", "int64"}


def _drawn(b: Builder, op: ir.OpView, handle: ir.Value) -> ir.Value:
    """Emits the stateless op, and the assignment of the counter behind it."""
    counter = Tensor(create_value("tf.ReadVariableOp", ranked_tensor_type(TensorType("int64", (1,))), [handle]))
    key, rest = (b.constant([seed], "int64") for seed in _seeds(op))
    state = [b.op("Bitcast", [key], [1], "uint64")]
    state.append(b.op("Bitcast", [b.concat([counter, rest], 0)], [2], "uint64"))
    first, *bounds = op.operands
    operands = [first, *state, b.constant(np.array(_PHILOX), "int32"), *bounds]
    result = create_value(f"tf.{_STATELESS[op.name]}", op.results[0].type, operands)
    assign_variable(handle, counter + b.reshape(_groups(b, op), [1]))
    return result


def _groups(b: Builder, op: ir.OpView) -> Tensor:
    """Emits how many groups of words the op reserves, as int64 with one element."""
    if op.name != "tf.RandomShuffle":
        count = _size_of(b, b.cast(op.operands[0], "int64"))
        return count * _RESERVED
    # One word for each row but the last; none where there is no element.
    sizes = tensor_type_of(op.operands[0]).shape
    vector = ranked_tensor_type(TensorType("int32", (None if sizes is None else len(sizes),)))
    shape = b.cast(create_value("tf.Shape", vector, [op.operands[0]]), "int64")
    groups = (b.element(shape, 0) + 2) // 4
    return groups * minimum(_size_of(b, shape), 1)


def _size_of(b: Builder, shape: ir.Value) -> Tensor:
    return b.op("Prod", [shape, b.constant([0], "int32")], [], "int64", keep_dims=False)


def _seeds(op: ir.OpView) -> tuple[int, int]:
    first, second = (
        ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else 0 for name in ("seed", "seed2")
    )
    return first, second


def _handle(number: int) -> ir.Value:
    kind = ir.Type.parse("tensor<!tf_type.resource<tensor<1xi64>>>")
    names = {"container": "generators", "shared_name": str(number)}  # the model's variables have no container
    return create_value("tf.VarHandleOp", kind, [], names)
