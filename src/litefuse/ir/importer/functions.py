"""Import of a FunctionDef as a func.func."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from litefuse.errors import GraphError, LimitError, SavedModelError
from litefuse.frontends.saved_model.dtypes import DataType, shape_from_proto
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NodeDef, OpDef
from litefuse.frontends.saved_model.model import ANNOTATIONS
from litefuse.frontends.saved_model.nodes import execution_order, functions_in
from litefuse.frontends.saved_model.op_registry import OpRegistry, input_count, input_dtypes, node_outputs
from litefuse.ir.annotations import KERAS_ATTRIBUTES
from litefuse.ir.importer.attributes import (
    attribute,
    call_attributes,
    callees_with_its_results,
    control_flow_attributes,
    dialect_op_name,
    implements_attribute,
    is_redundant,
)
from litefuse.ir.importer.constants import constant, dtype_name, tensor_array, tensor_type, variant_type
from litefuse.ir.mlir import func, ir
from litefuse.ir.ops.dims import Shape

# The ops that create tensor lists; the dialect requires the element type in their result types.
_LIST_MAKERS = frozenset({"TensorListReserve", "TensorListFromTensor", "EmptyTensorList", "TensorListSetItem"})
# The ops on tensors that gradients also apply to lists; the dialect requires that all have the same type.
_ALSO_OF_LISTS = frozenset({"AddN", "ZerosLike"})
# Ops that a model on a device does not need: those that print, and the one that only carries control dependencies,
# which the order of the ops now expresses.
_WITHOUT_EFFECT = frozenset({"NoOp", "PrintV2"})


# A dtype, a shape, and the dtype of the elements of a list.
_TypeKey: TypeAlias = "tuple[int, Shape | None, int | None]"

# A reference type's number is its value type's number plus this.
_REFERENCE = 100

_COMPLEX = frozenset({DataType.COMPLEX64, DataType.COMPLEX128})


class _OpTemplate(NamedTuple):
    """Data shared by all nodes of one op.

    Attributes:
        name: The name of the ``tf`` op.
        definition: The op's definition, or the signature of the function that it calls.
        defaults: The defaults of its attributes.
        calls: Whether it calls a function.
        inputs: The number of inputs of a node; None if it depends on attributes.
        functions: The attributes that name functions, in the order of the definition.
        segmented: The segment size attributes (the number of operands or results of each argument of the definition)
            and these arguments, for an op with several variadic arguments.
    """

    name: str
    definition: OpDef
    defaults: Mapping[str, ir.Attribute]
    calls: bool
    inputs: int | None
    functions: Sequence[str]
    segmented: Mapping[str, Sequence[OpDef.ArgDef]]

    def attribute(self, node: NodeDef, name: str) -> AttrValue:
        """Returns the attribute of a node, or its default."""
        if name in node.attr:
            return node.attr[name]
        for attr in self.definition.attr:
            if attr.name == name and attr.HasField("default_value"):
                return attr.default_value
        raise GraphError(f"the attribute {name!r} is missing")


class _NodeForm(NamedTuple):
    """Data shared by nodes of one op with the same attributes; ``offsets`` has the first result of each output.

    The dtypes are none if an attribute is missing, which the dialect may not need.
    """

    template: _OpTemplate
    inputs: int
    dtypes: Sequence[tuple[str, str]]
    types: Sequence[ir.Type]
    offsets: dict[str, int]
    attributes: dict[str, ir.Attribute]


@dataclass
class FunctionImporter:
    """Imports functions of one library into one module.

    Attributes:
        library: The functions by name.
        registry: The definitions of the ops.
        symbol: The module symbol of a function of the library; called once for every reference.
    """

    library: Mapping[str, FunctionDef]
    registry: OpRegistry
    symbol: Callable[[str], str]
    _templates: dict[str, _OpTemplate] = field(default_factory=dict[str, _OpTemplate])
    _forms: dict[tuple[str | tuple[str, bytes], ...], _NodeForm] = field(
        default_factory=dict["tuple[str | tuple[str, bytes], ...]", _NodeForm]
    )
    _attributes_made: dict[bytes, ir.Attribute] = field(default_factory=dict[bytes, ir.Attribute])
    _types_made: dict[_TypeKey, ir.Type] = field(default_factory=dict["_TypeKey", ir.Type])
    _dtypes_known: dict[ir.Type, str] = field(default_factory=dict[ir.Type, str])
    _shapes_lack: bool = False

    def import_body(self, function: FunctionDef, arguments: Sequence[ir.Value]) -> list[ir.Value]:
        """Emits a function's nodes at the current insertion point.

        Returns:
            The function's results, in the order of its signature.

        Raises:
            GraphError: A node cannot be imported; the error has its name and its function's.
        """
        name = function.signature.name
        values: dict[str, list[ir.Value]] = {
            arg.name: [value] for arg, value in zip(function.signature.input_arg, arguments, strict=True)
        }
        starts: dict[str, dict[str, int]] = {}
        for node in execution_order(function):
            try:
                self._import_node(node, values, starts)
            except LimitError as error:
                error.where = error.where or f"function {name}, node {node.name} ({node.op})"
                raise
            except (GraphError, SavedModelError) as error:
                where = f"function {name}, node {node.name} ({node.op})"
                known = error.where if isinstance(error, GraphError) else ""
                raise GraphError(error.message, where=known or where, hint=error.hint) from error
        results: list[ir.Value] = []
        for output in function.signature.output_arg:
            if output.name not in function.ret:
                raise GraphError(f"the result {output.name!r} is never computed", where=f"function {name}")
            results.append(_lookup(function.ret[output.name], values, starts, f"function {name}"))
        return results

    def import_function(self, function: FunctionDef, symbol: str, module: ir.Module) -> func.FuncOp:
        """Imports a library function as a private function of the module, with its composite annotation."""
        where = f"function {function.signature.name}"
        try:
            types = argument_types(function)
        except GraphError as error:
            raise GraphError(error.message, where=where) from error
        with ir.InsertionPoint(module.body):
            op = func.FuncOp(symbol, ir.FunctionType.get(types, []), visibility="private", loc=ir.Location.name(symbol))
        block = op.add_entry_block([ir.Location.name(arg.name) for arg in function.signature.input_arg])
        with ir.InsertionPoint(block):
            results = self.import_body(function, list(block.arguments))
            func.ReturnOp(results)
        op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, [value.type for value in results]))
        if symbol != function.signature.name:
            op.attributes["tf._original_func_name"] = ir.StringAttr.get(function.signature.name)
        composite = [key for key in ANNOTATIONS if key in function.attr]
        for key in (*composite, *(KERAS_ATTRIBUTES if composite else ())):
            if key in function.attr:
                make = implements_attribute if key in ANNOTATIONS else attribute
                try:
                    op.attributes[f"tf.{key}"] = make(function.attr[key])
                except GraphError as error:
                    raise GraphError(f"the attribute {key!r} {error.message}", where=where) from error
        return op

    def _import_node(self, node: NodeDef, values: dict[str, list[ir.Value]], starts: dict[str, dict[str, int]]) -> None:
        if node.op in _WITHOUT_EFFECT:
            values[node.name] = []
            return
        if node.op == "Const" and node.attr["value"].tensor.dtype in _COMPLEX:
            tensor, location = node.attr["value"].tensor, ir.Location.name(node.name)
            values[node.name] = [constant(tensor_array(tensor), tensor.dtype, location)]
            starts[node.name] = {"output": 0}
            return
        form = self._form(node)
        operands = [_lookup(reference, values, starts, None) for reference in node.input if reference[0] != "^"]
        if form.inputs != len(operands):
            raise GraphError(f"it has {len(operands)} inputs; its op takes {form.inputs}")
        self._check_dtypes(node, form.dtypes, operands)
        types, offsets = form.types, form.offsets
        for name in callees_with_its_results(node):
            if name in self.library and len(self.library[name].signature.output_arg) != len(types):
                given = len(self.library[name].signature.output_arg)
                raise GraphError(f"it has {len(types)} results, but the function {name!r} that it calls gives {given}")
        if node.op == "IdentityN":  # as a use of a weight, it would keep the weight from staying mapped
            pairs = zip(operands, types, strict=True)
            values[node.name] = [value if value.type == kind else _identity(value, kind, node) for value, kind in pairs]
            starts[node.name] = offsets
            return
        if node.op in _ALSO_OF_LISTS and node.attr["T"].type == DataType.VARIANT:
            operands = [_identity(value, types[0], node) for value in operands]
        if node.op == "Const":  # frozen graphs do not record its shape
            types = [_constant_type(node, form.attributes.get("value"), types[0])]
        if self._shapes_lack:
            types = [_broadcast_type(kind, operands) for kind in types]
        op = ir.Operation.create(
            form.template.name,
            results=types,
            operands=operands,
            attributes=form.attributes,
            loc=ir.Location.name(node.name),
        )
        values[node.name] = list(op.results)
        starts[node.name] = offsets

    def _form(self, node: NodeDef) -> _NodeForm:
        """Returns what a node shares with others; most nodes have the op and the attributes of an earlier one."""
        template = self._template(node)
        if template.calls or template.functions or node.op == "Const":
            return self._new_form(node, template)
        key = (node.op, *sorted((name, value.SerializeToString()) for name, value in node.attr.items()))
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = self._new_form(node, template)
        return form

    def _new_form(self, node: NodeDef, template: _OpTemplate) -> _NodeForm:
        inputs = template.inputs
        if inputs is None:
            inputs = input_count(node, template.definition, template.attribute)
        try:
            inputs_of_op = input_dtypes(node, template.definition, template.attribute)
        except GraphError:
            inputs_of_op = []
        dtypes = [(name, _plain_name(dtype)) for name, dtype in inputs_of_op]
        types, offsets = self._result_types(node, template)
        attributes = call_attributes(self.symbol(node.op)) if template.calls else self._attributes(node, template)
        for name, arguments in template.segmented.items():
            attributes[name] = ir.DenseI32ArrayAttr.get([_length(node, argument, template) for argument in arguments])
        return _NodeForm(template, inputs, dtypes, types, offsets, attributes)

    def _check_dtypes(self, node: NodeDef, dtypes: Sequence[tuple[str, str]], operands: Sequence[ir.Value]) -> None:
        """Rejects operands of other element types than the op takes, which may crash the engine."""
        for (name, wanted), value, reference in zip(dtypes, operands, node.input, strict=False):
            given = self._dtype_name(value.type)
            if wanted != given:
                raise GraphError(
                    f"its operand {name!r} takes {wanted}, but {reference!r} is {given}",
                    hint="The model is inconsistent: save it again.",
                )

    def _dtype_name(self, kind: ir.Type) -> str:
        dtype = self._dtypes_known.get(kind)
        if dtype is None:
            dtype = self._dtypes_known[kind] = dtype_name(kind)
        return dtype

    def _template(self, node: NodeDef) -> _OpTemplate:
        template = self._templates.get(node.op)
        if template is None:
            callee = self.library.get(node.op)
            definition = callee.signature if callee is not None else self.registry.get(node.op)
            if definition is None:
                raise GraphError(
                    f"the op {node.op} is unknown: neither TensorFlow's registry nor the SavedModel defines it"
                )
            defaults = {
                attr.name: attribute(attr.default_value)
                for attr in definition.attr
                if callee is None and attr.HasField("default_value") and attr.default_value.WhichOneof("value")
            }
            call = "tf.StatefulPartitionedCall" if definition.is_stateful else "tf.PartitionedCall"
            name = dialect_op_name(node.op) if callee is None else call
            arguments = {"operandSegmentSizes": definition.input_arg, "resultSegmentSizes": definition.output_arg}
            segmented = {key: args for key, args in arguments.items() if callee is None and _is_segmented(args)}
            several = any(arg.type_list_attr or arg.number_attr for arg in definition.input_arg)
            inputs = None if several else len(definition.input_arg)
            callees = [attr.name for attr in definition.attr if attr.type in {"func", "list(func)"}]
            template = _OpTemplate(name, definition, defaults, callee is not None, inputs, callees, segmented)
            self._templates[node.op] = template
        return template

    def _attributes(self, node: NodeDef, template: _OpTemplate) -> dict[str, ir.Attribute]:
        attributes = dict(template.defaults)
        for name in template.functions:  # sets the order in the module; the order of a map differs between processes
            for callee in functions_in(node.attr[name]) if name in node.attr else ():
                if callee.name in self.library:
                    self.symbol(callee.name)
        for name, value in node.attr.items():
            if name.startswith("_") or is_redundant(node.op, name):  # bookkeeping of the TensorFlow runtime
                continue
            try:
                attributes[name] = self._attribute(value)
                if value.WhichOneof("value") == "list":
                    for callee in value.list.func:
                        self._function_reference(AttrValue(func=callee))
            except GraphError as error:
                raise GraphError(f"the attribute {name!r} {error.message}") from error
        return attributes | control_flow_attributes(node.op)

    def _result_types(self, node: NodeDef, template: _OpTemplate) -> tuple[list[ir.Type], dict[str, int]]:
        """Returns the types of a node's results, and the index of the first result of each named output."""
        dtypes: list[int] = []
        offsets: dict[str, int] = {}
        for output, of_output in node_outputs(node, template.definition, template.attribute):
            offsets[output] = len(dtypes)
            dtypes += of_output
        shapes: list[Shape | None] = []
        for key in ("_output_shapes", "output_shapes"):
            if key in node.attr and len(node.attr[key].list.shape) == len(dtypes):
                shapes = [shape_from_proto(shape) for shape in node.attr[key].list.shape]
                break
        element = template.attribute(node, "element_dtype").type if node.op in _LIST_MAKERS else None
        types: list[ir.Type] = []
        for i, dtype in enumerate(dtypes):
            key = (dtype, shapes[i] if shapes else None, element)
            kind = self._types_made.get(key)
            if kind is None:
                kind = self._types_made[key] = _value_type(*key)
                self._shapes_lack = self._shapes_lack or key[1] is None
            types.append(kind)
        return types, offsets

    def _attribute(self, value: AttrValue) -> ir.Attribute:
        kind = value.WhichOneof("value")
        if kind == "func":
            return self._function_reference(value)
        if kind == "tensor":
            return attribute(value)
        # Most nodes have attributes that earlier nodes had too.
        key = value.SerializeToString()
        made = self._attributes_made.get(key)
        if made is None:
            made = self._attributes_made[key] = attribute(value)
        return made

    def _function_reference(self, value: AttrValue) -> ir.Attribute:
        if value.func.name not in self.library:
            raise GraphError(f"names the function {value.func.name!r}, which the SavedModel does not contain")
        return ir.FlatSymbolRefAttr.get(self.symbol(value.func.name))


def argument_types(function: FunctionDef) -> list[ir.Type]:
    """Returns the types of a function's arguments, ranked if the SavedModel has their shapes."""
    types: list[ir.Type] = []
    for index, arg in enumerate(function.signature.input_arg):
        shape = None
        if index in function.arg_attr and "_output_shapes" in function.arg_attr[index].attr:
            shapes = function.arg_attr[index].attr["_output_shapes"].list.shape
            shape = shape_from_proto(shapes[0]) if len(shapes) else None
        types.append(_value_type(arg.type, shape))
    return types


@functools.cache
def _plain_name(dtype: int) -> str:
    """Returns the name of an element type; for a reference type, that of its value type."""
    return str(DataType.from_proto(dtype - _REFERENCE if dtype > _REFERENCE else dtype))


def _is_segmented(arguments: Sequence[OpDef.ArgDef]) -> bool:
    """Whether an op has several variadic arguments."""
    return sum(bool(argument.type_list_attr or argument.number_attr) for argument in arguments) > 1


def _length(node: NodeDef, argument: OpDef.ArgDef, template: _OpTemplate) -> int:
    """Returns the number of tensors of an op's argument."""
    if argument.type_list_attr:
        return len(template.attribute(node, argument.type_list_attr).list.type)
    return template.attribute(node, argument.number_attr).i if argument.number_attr else 1


def _broadcast_type(kind: ir.Type, operands: Sequence[ir.Value]) -> ir.Type:
    """Returns a result's type; unranked if MLIR, which considers only ranked operands, would reject its shape.

    TensorFlow records no shapes on some nodes of gradient functions.
    """
    result = ir.ShapedType(kind)
    shapes = [ir.ShapedType(value.type) for value in operands]
    if not result.has_rank or all(shape.has_rank for shape in shapes):
        return kind
    for shape in shapes:
        sizes = shape.shape if shape.has_rank else []
        for size, own in zip(reversed(result.shape), reversed(sizes), strict=False):
            if own == 1 and size not in (1, ir.ShapedType.get_dynamic_size()):
                return ir.UnrankedTensorType.get(result.element_type)
    return kind


def _value_type(dtype: int, shape: Shape | None, list_element: int | None = None) -> ir.Type:
    if dtype == DataType.VARIANT and list_element is not None:
        return variant_type(tensor_type(list_element, None))
    # A resource is a scalar handle, whatever shape TensorFlow records for it.
    return tensor_type(dtype, () if dtype == DataType.RESOURCE else shape)


def _constant_type(node: NodeDef, value: ir.Attribute | None, noted: ir.Type) -> ir.Type:
    """Returns the type of a constant from its value. The bindings have no elements attribute of strings."""
    if isinstance(value, ir.DenseElementsAttr):
        return ir.DenseElementsAttr(value).type
    if node.attr["value"].tensor.dtype != DataType.STRING:
        return noted
    return tensor_type(DataType.STRING, shape_from_proto(node.attr["value"].tensor.tensor_shape))


def _identity(value: ir.Value, kind: ir.Type, node: NodeDef) -> ir.Value:
    location = ir.Location.name(node.name)
    return ir.Operation.create("tf.Identity", results=[kind], operands=[value], loc=location).result


def _lookup(
    reference: str, values: Mapping[str, list[ir.Value]], starts: Mapping[str, Mapping[str, int]], where: str | None
) -> ir.Value:
    """Returns the value of ``node:output:index``, ``node:index``, ``node`` or an argument's name."""
    node, _, port = reference.partition(":")
    output, _, index = port.rpartition(":")
    results = values.get(node, [])
    offset = 0 if not output else starts.get(node, {}).get(output, len(results))
    if not output and port and not port.isdigit():
        offset, index = starts.get(node, {}).get(port, len(results)), "0"
    position = offset + (int(index) if index.isdigit() else 0)
    if position >= len(results):
        raise GraphError(f"the input {reference!r} does not exist", where=where or "")
    return results[position]
