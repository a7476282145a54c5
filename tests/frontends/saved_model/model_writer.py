"""Writes a small SavedModel for tests, message by message.

It is what ``tf.saved_model.save(module, path, signatures={"serving_default": f})`` writes, reduced to what matters::

    class Module(tf.Module):
        w = tf.Variable([[0, 1, 2], [3, 4, 5]], name="weight")
        layers = [tf.Variable(7)]

        @tf.function
        def f(self, x, a):  # captures self.w, a constant and self.table
            ...

The signature's outputs are ``y`` (result 1), ``b`` (result 0) and ``twin`` (result 1 again).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import (
    AssetFileDef,
    AttrValue,
    DictValue,
    FunctionDef,
    FunctionDefLibrary,
    GraphDef,
    MetaGraphDef,
    NameAttrList,
    NodeDef,
    OpDef,
    SavedAsset,
    SavedBareConcreteFunction,
    SavedConcreteFunction,
    SavedConstant,
    SavedFunction,
    SavedModel,
    SavedObject,
    SavedObjectGraph,
    SavedResource,
    SavedUserObject,
    SavedVariable,
    SignatureDef,
    StructuredValue,
    TensorInfo,
    TensorProto,
    TensorShapeProto,
    TensorSpecProto,
    TrackableObjectGraph,
    TupleValue,
)
from tests.frontends.saved_model.bundle_writer import BundleWriter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FUNCTION = "__inference_signature_wrapper_f_7"
INITIALIZER = "__inference__initializer_8"
WEIGHT = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
KEY = ".ATTRIBUTES/VARIABLE_VALUE"

Reference = TrackableObjectGraph.TrackableObject.ObjectReference


def shape(*sizes: int | None) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1 if size is None else size) for size in sizes])


def saved_model() -> SavedModel:
    info = MetaGraphDef.MetaInfoDef(tags=["serve"], tensorflow_version="2.21.0", stripped_default_attrs=True)
    meta_graph = MetaGraphDef(
        meta_info_def=info,
        graph_def=GraphDef(node=_nodes(), library=FunctionDefLibrary(function=_functions())),
        signature_def={"serving_default": _signature(), "__saved_model_init_op": SignatureDef()},
        asset_file_def=[AssetFileDef(tensor_info=TensorInfo(name="Const_1:0"), filename="vocabulary.txt")],
        object_graph_def=_object_graph(),
    )
    return SavedModel(saved_model_schema_version=1, meta_graphs=[meta_graph])


def checkpoint() -> BundleWriter:
    """Return the model's checkpoint: the variables and the object graph that names their keys."""
    writer = BundleWriter()
    writer.add(f"w/{KEY}", WEIGHT, DataType.FLOAT32)
    writer.add(f"layers/0/{KEY}", np.array(7, np.int32), DataType.INT32)
    value = np.empty((), np.object_)
    value[()] = checkpoint_graph().SerializeToString()
    writer.add("_CHECKPOINTABLE_OBJECT_GRAPH", value, DataType.STRING)
    return writer


def checkpoint_graph() -> TrackableObjectGraph:
    """Return the object graph that the checkpoint holds."""
    node = TrackableObjectGraph.TrackableObject
    return TrackableObjectGraph(
        nodes=[
            node(children=_children(w=1, layers=2)),
            node(attributes=[node.SerializedTensor(name="VARIABLE_VALUE", checkpoint_key=f"w/{KEY}")]),
            node(children=[Reference(node_id=3, local_name="0")]),
            node(attributes=[node.SerializedTensor(name="VARIABLE_VALUE", checkpoint_key=f"layers/0/{KEY}")]),
        ]
    )


def write(folder: Path, model: SavedModel | None = None, writer: BundleWriter | None = None) -> Path:
    """Write a SavedModel and return its folder."""
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    (folder / "assets" / "vocabulary.txt").write_text("a\nb\n")
    (folder / "saved_model.pb").write_bytes((model or saved_model()).SerializeToString(deterministic=True))
    (writer or checkpoint()).write(folder)
    return folder


def _children(**nodes: int) -> list[TrackableObjectGraph.TrackableObject.ObjectReference]:
    return [Reference(node_id=node, local_name=name) for name, node in nodes.items()]


def _object_graph() -> SavedObjectGraph:
    user = SavedUserObject(identifier="_generic_user_object")
    variable = SavedVariable(dtype=DataType.FLOAT32, shape=shape(2, 3), trainable=True, name="weight")
    counter = SavedVariable(dtype=DataType.INT32, shape=shape(), name="Variable")
    nodes = [
        SavedObject(user_object=user, children=_children(w=1, layers=2, signatures=4, f=5, table=8, asset=9)),
        SavedObject(variable=variable),
        SavedObject(user_object=SavedUserObject(identifier="trackable_list_wrapper"), children=_numbered(3)),
        SavedObject(variable=counter),
        SavedObject(user_object=SavedUserObject(identifier="signature_map"), children=_children(serving_default=6)),
        SavedObject(function=SavedFunction(concrete_functions=[FUNCTION]), children=_children(trace_0=6)),
        SavedObject(
            bare_concrete_function=SavedBareConcreteFunction(concrete_function_name=FUNCTION),
            children=_children(capture_1=7),
        ),
        SavedObject(constant=SavedConstant(operation="Const"), registered_name="tf.TrackableConstant"),
        SavedObject(
            resource=SavedResource(),
            registered_name="tf.StaticHashTable",
            children=_children(_initialize=10, _create_resource=11),
        ),
        SavedObject(asset=SavedAsset(asset_file_def_index=0)),
        SavedObject(bare_concrete_function=SavedBareConcreteFunction(concrete_function_name=INITIALIZER)),
        SavedObject(bare_concrete_function=SavedBareConcreteFunction(concrete_function_name="__inference__creator_9")),
    ]
    functions = {
        FUNCTION: SavedConcreteFunction(
            bound_inputs=[1, 7, 8],
            canonicalized_input_signature=_tuple(_tuple(), _dict(x=_spec("x", None, 2), a=_spec("a"))),
            output_signature=_dict(y=_spec("y", None, 3), b=_spec("b"), twin=_spec("twin", None, 3)),
        ),
        INITIALIZER: SavedConcreteFunction(bound_inputs=[9, 8]),
    }
    return SavedObjectGraph(nodes=nodes, concrete_functions=functions)


def _numbered(*nodes: int) -> list[TrackableObjectGraph.TrackableObject.ObjectReference]:
    return [Reference(node_id=node, local_name=str(name)) for name, node in enumerate(nodes)]


def _tuple(*values: StructuredValue) -> StructuredValue:
    return StructuredValue(tuple_value=TupleValue(values=values))


def _dict(**values: StructuredValue) -> StructuredValue:
    return StructuredValue(dict_value=DictValue(fields=values))


def _spec(name: str, *sizes: int | None) -> StructuredValue:
    return StructuredValue(tensor_spec_value=TensorSpecProto(name=name, shape=shape(*sizes), dtype=DataType.FLOAT32))


def _signature() -> SignatureDef:
    def info(name: str, *sizes: int | None) -> TensorInfo:
        return TensorInfo(name=name, dtype=DataType.FLOAT32, tensor_shape=shape(*sizes))

    return SignatureDef(
        inputs={"x": info("serving_default_x:0", None, 2), "a": info("serving_default_a:0")},
        outputs={"y": info("Call:1", None, 3), "b": info("Call:0"), "twin": info("Call:1", None, 3)},
        method_name="tensorflow/serving/predict",
    )


def _nodes() -> list[NodeDef]:
    constant = TensorProto(dtype=DataType.FLOAT32, tensor_shape=shape(2), float_val=[0.5, -1.5])
    operands = ["serving_default_a", "serving_default_x:0", "weight_1", "Const", "hash_table", "^NoOp"]
    return [
        NodeDef(name="serving_default_x", op="Placeholder"),
        NodeDef(name="serving_default_a", op="Placeholder"),
        NodeDef(name="weight_1", op="VarHandleOp"),
        NodeDef(name="hash_table", op="HashTableV2"),
        NodeDef(name="NoOp", op="NoOp"),
        NodeDef(name="Const", op="Const", attr={"value": AttrValue(tensor=constant)}),
        NodeDef(
            name="Call",
            op="StatefulPartitionedCall",
            input=operands,
            attr={"f": AttrValue(func=NameAttrList(name=FUNCTION))},
        ),
    ]


def _arguments(names: Sequence[str], dtype: DataType) -> list[OpDef.ArgDef]:
    return [OpDef.ArgDef(name=name, type=dtype) for name in names]


def _functions() -> list[FunctionDef]:
    signature = OpDef(
        name=FUNCTION,
        input_arg=[
            *_arguments(["a", "x"], DataType.FLOAT32),
            *_arguments(["unknown"], DataType.RESOURCE),
            *_arguments(["unknown_0"], DataType.FLOAT32),
            *_arguments(["unknown_1"], DataType.RESOURCE),
        ],
        output_arg=_arguments(["identity", "identity_1", "unused"], DataType.FLOAT32),
    )
    names = {
        position: FunctionDef.ArgAttrs(attr={"_user_specified_name": AttrValue(s=name.encode())})
        for position, name in enumerate(["a", "x", "1234"])
    }
    body = FunctionDef(signature=signature, arg_attr=names, ret={"identity": "unknown_0", "identity_1": "x"})
    arguments = [*_arguments(["unknown"], DataType.STRING), *_arguments(["unknown_0"], DataType.RESOURCE)]
    initializer = FunctionDef(signature=OpDef(name=INITIALIZER, input_arg=arguments))
    return [body, initializer]
