"""Functions built op by op, lowered by the engine alone and run by the stock interpreter, without litefuse's help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from litefuse.ir.attributes import mlir_attribute
from litefuse.ir.mlir import PassManager, converter_api_ext, func, ir

Array = npt.NDArray[Any]

#: The masks of a slice that uses none.
FLAGS = dict.fromkeys(("begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask"), 0)
#: The attribute of LiteRT's ops that have no activation.
NONE = {"fused_activation_function": "NONE"}

# What numpy makes of numbers, and what most models have.
_HALF_AS_WIDE: Mapping[str, npt.DTypeLike] = {"<f8": np.float32, "<i8": np.int32}


def kind(shape: str) -> ir.Type:
    """The type of a tensor by its MLIR text within the brackets: ``?x3xf32``."""
    return ir.Type.parse(f"tensor<{shape}>")


def int32(number: int) -> ir.Attribute:
    """A number as an attribute of LiteRT's ops."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)


class Graph:
    """A function, the signature ``main`` of a model; there must be a context of MLIR.

    Args:
        inputs: The types of its arguments.
        functions: The text of further functions of the module.
    """

    constant_op = "tf.Const"

    def __init__(self, *inputs: str, functions: str = "") -> None:
        self.module = ir.Module.parse(functions)
        self._types = [kind(each) for each in inputs]
        with ir.InsertionPoint(self.module.body):
            self.function = func.FuncOp("main", ir.FunctionType.get(self._types, []), visibility="public")
        self.block = self.function.add_entry_block()
        self.inputs = list[ir.Value](self.block.arguments)

    def ops(
        self, name: str, operands: Sequence[ir.Value], results: Sequence[str], /, **attributes: Any
    ) -> list[ir.Value]:
        """Adds an op; a name without a dialect is TensorFlow's. Attributes are Python values or MLIR's."""
        found = {
            key: value if isinstance(value, ir.Attribute) else mlir_attribute(value)
            for key, value in attributes.items()
        }
        full = name if "." in name else f"tf.{name}"
        with ir.InsertionPoint(self.block):
            return list(ir.Operation.create(full, [kind(each) for each in results], list(operands), found).results)

    def op(self, name: str, operands: Sequence[ir.Value], result: str, /, **attributes: Any) -> ir.Value:
        """Adds an op of one result."""
        return self.ops(name, operands, [result], **attributes)[0]

    def constant(self, value: Any, dtype: npt.DTypeLike | None = None) -> ir.Value:
        """Adds a constant: numbers, float32 or int32 by default, or the text of an attribute."""
        if isinstance(value, str):
            attribute: Any = ir.Attribute.parse(value)
        else:
            array = np.array(value, dtype, order="C")
            if dtype is None and array.dtype.str in _HALF_AS_WIDE:
                array = array.astype(_HALF_AS_WIDE[array.dtype.str])
            attribute = ir.DenseElementsAttr.get(array)
        with ir.InsertionPoint(self.block):
            return ir.Operation.create(self.constant_op, [attribute.type], [], {"value": attribute}).result

    def constants(self, *values: Any) -> list[ir.Value]:
        """Adds several."""
        return [self.constant(value) for value in values]

    def returns(self, *values: ir.Value) -> Graph:
        """Ends the function."""
        with ir.InsertionPoint(self.block):
            func.ReturnOp(list(values))
        results = [value.type for value in values]
        self.function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(self._types, results))
        names = [f"x{index}" for index in range(len(self._types))], [f"y{index}" for index in range(len(results))]
        converter_api_ext.set_signature(self.function, "main", *names)
        return self

    def lowered(self, *, bounded: bool = False) -> Graph:
        """Has the engine lower the module.

        Args:
            bounded: Whether with the engine's own default, that infinite constants become the largest float.

        Raises:
            ValueError: The engine refuses it.
        """
        config = converter_api_ext.ConvertToTFLConfig()
        config.canonicalizing_inf_as_min_max_float = bounded
        converter_api_ext.run_convert_to_tfl_passes(self.module, PassManager(), config)
        return self

    def model(self) -> bytes:
        """The model that the engine makes of the function."""
        return export(self.lowered().module)

    def run(self, *inputs: Any, xnnpack: bool = True) -> list[Array]:
        """What that model computes."""
        return run(self.model(), *inputs, xnnpack=xnnpack)


class WrittenGraph(Graph):
    """A function of LiteRT's own ops, which the engine does nothing with but write it."""

    constant_op = "tfl.pseudo_const"

    def model(self) -> bytes:
        return export(self.module)

    def none(self) -> ir.Value:
        """Adds an operand that is left out."""
        with ir.InsertionPoint(self.block):
            attributes = {"value": ir.Attribute.parse("unit")}
            return ir.Operation.create("tfl.no_value", [ir.Type.parse("none")], [], attributes).result


def text(graph: Graph) -> str:
    """The text of the function without constants, an op in each line."""
    lines = str(graph.function).splitlines()
    return "\n".join(
        line.strip() for line in lines if "= arith.constant" not in line and "tfl.pseudo_const" not in line
    )


def export(module: ir.Module) -> bytes:
    """A module as a model.

    Raises:
        ValueError: The exporter refuses it.
    """
    return converter_api_ext.export_flatbuffer_to_bytes(module.operation)


def run(content: bytes, *inputs: Any, xnnpack: bool = True) -> list[Array]:
    """What a model computes in the stock interpreter: in XNNPACK where that takes an op, or in LiteRT's own kernels.

    Raises:
        RuntimeError: The runtime refuses the model, or fails.
        ValueError: Likewise.
    """
    resolver = OpResolverType.BUILTIN if xnnpack else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return call(Interpreter(model_content=content, experimental_op_resolver_type=resolver), *inputs)


def call(interpreter: Interpreter, *inputs: Any) -> list[Array]:
    """What one more call of an interpreter computes."""
    details = sorted(interpreter.get_input_details(), key=lambda each: each["name"])
    arrays = [np.array(value, each["dtype"]) for each, value in zip(details, inputs, strict=True)]
    for each, array in zip(details, arrays, strict=True):
        interpreter.resize_tensor_input(each["index"], array.shape)
    interpreter.allocate_tensors()
    for each, array in zip(details, arrays, strict=True):
        interpreter.set_tensor(each["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()]
