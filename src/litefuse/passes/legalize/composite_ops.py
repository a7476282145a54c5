"""STABLEHLO_COMPOSITE: a named op with a decomposition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from litefuse.ir.attributes import COMPOSITE, attribute_value, custom_code
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.passes import module_pass, visit_ops


@module_pass
def emit_composite_ops(module: ir.Module) -> bool:
    """Converts the composites that ``Builder.composite`` created to the ops that are exported.

    ::

        "tfl.custom"(%x) {custom_code = "litefuse.composite", name = "my.op", attributes = {k = 1}, decomposition = @f}
        -> "vhlo.composite_v1"(%x) {name = #vhlo.string_v1<"my.op">, ...}
    """
    return visit_ops(module, {"tfl.custom": _emitted})


def _emitted(op: ir.OpView) -> Sequence[ir.Value] | None:
    if custom_code(op) != COMPOSITE:
        return None
    return create_composite_op(
        op,
        ir.StringAttr(op.attributes["name"]).value,
        ir.FlatSymbolRefAttr(op.attributes["decomposition"]).value,
        {named.name: attribute_value(named.attr) for named in ir.DictAttr(op.attributes["attributes"])},
    )


def create_composite_op(
    op: ir.OpView, name: str, decomposition: str, attributes: Mapping[str, Any]
) -> Sequence[ir.Value]:
    """Creates a composite that replaces an op, before it, with the same operands and result types.

    Args:
        op: The op.
        name: The composite's name.
        decomposition: The symbol of the function that computes it without a kernel.
        attributes: Ints, floats, bools, strings, and lists of these.

    Raises:
        ValueError: An attribute has another type.
    """
    # The StableHLO dialect requires a namespace in a composite's name, its serialized form VHLO does not; a kernel may
    # be registered under a name without one.
    created = create_op(
        "vhlo.composite_v1",
        [result.type for result in op.results],
        op.operands,
        {
            "name": composite_name(name),
            "decomposition": ir.Attribute.parse(_vhlo(decomposition)),
            "version": ir.Attribute.parse("#vhlo.integer_v1<1 : i32>"),
            "composite_attributes": ir.Attribute.parse(_vhlo(dict(attributes))),
        },
        location=op.location,
        point=ir.InsertionPoint(op),
    )
    return list(created.results)


def composite_name(name: str) -> ir.Attribute:
    """Returns the attribute ``name`` of a composite."""
    return ir.Attribute.parse(_vhlo(name))


def _escaped(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:02X}"


def name_of_composite(op: ir.OpView) -> str:
    """Returns the name of a composite."""
    text = str(op.attributes["name"]).removeprefix("#vhlo.string_v1<").removesuffix(">")
    return ir.StringAttr(ir.Attribute.parse(text)).value


def _vhlo(value: Any) -> str:
    """Returns a Python value as the text of an attribute of the VHLO dialect."""
    match value:
        case bool():
            return f"#vhlo.bool_v1<{str(value).lower()}>"
        case int():
            return f"#vhlo.integer_v1<{value} : i64>"
        case float() if math.isfinite(value):
            return f"#vhlo.float_v1<{value:.9e} : !vhlo.f32_v1>"
        case str() | bytes():
            data = value.encode() if isinstance(value, str) else value
            return f'#vhlo.string_v1<"{"".join(map(_escaped, data))}">'
        case list():
            return f"#vhlo.array_v1<[{', '.join(map(_vhlo, value))}]>"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case dict():
            items = [f"{_vhlo(key)} = {_vhlo(item)}" for key, item in value.items()]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            return f"#vhlo.dict_v1<{{{', '.join(items)}}}>"
        case _:
            raise ValueError(f"a composite cannot hold the attribute {value}")
