# Made by scripts/compile_protos.py from proto/*.proto: do not edit.
# ruff: noqa: A002, N802  (the names are those of the wire format and of protobuf)

from collections.abc import Iterable, Mapping
from typing import Literal

from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.message import Message

__all__ = [
    "AnyMessage",
    "AssetFileDef",
    "AttrValue",
    "BoolValue",
    "BoundedTensorSpecProto",
    "BundleEntryProto",
    "BundleHeaderProto",
    "CapturedTensor",
    "CollectionDef",
    "DictValue",
    "FullTypeDef",
    "FunctionDef",
    "FunctionDefLibrary",
    "FunctionSpec",
    "GradientDef",
    "GraphDef",
    "KerasMetadata",
    "KerasObject",
    "ListValue",
    "MetaGraphDef",
    "NameAttrList",
    "NamedTupleValue",
    "NodeDef",
    "NoneValue",
    "OpDef",
    "OpDeprecation",
    "OpList",
    "OpRegistryFile",
    "PairValue",
    "RegisteredGradient",
    "RegisteredSaver",
    "ResourceHandleProto",
    "SaveableObject",
    "SavedAsset",
    "SavedBareConcreteFunction",
    "SavedConcreteFunction",
    "SavedConstant",
    "SavedFunction",
    "SavedModel",
    "SavedObject",
    "SavedObjectGraph",
    "SavedResource",
    "SavedUserObject",
    "SavedVariable",
    "SaverDef",
    "SignatureDef",
    "StructuredValue",
    "TensorInfo",
    "TensorProto",
    "TensorShapeProto",
    "TensorSliceProto",
    "TensorSpecProto",
    "TrackableObjectGraph",
    "TupleValue",
    "TypeSpecProto",
    "VariantTensorDataProto",
    "VersionDef",
]

class AnyMessage(Message):
    type_url: str
    value: bytes
    def __init__(self, *, type_url: str | None = ..., value: bytes | None = ...) -> None: ...

class AssetFileDef(Message):
    @property
    def tensor_info(self) -> TensorInfo: ...
    filename: str
    def __init__(self, *, tensor_info: TensorInfo | None = ..., filename: str | None = ...) -> None: ...
    def HasField(self, field_name: Literal["tensor_info"]) -> bool: ...

class AttrValue(Message):
    class ListValue(Message):
        @property
        def s(self) -> RepeatedScalarFieldContainer[bytes]: ...
        @property
        def i(self) -> RepeatedScalarFieldContainer[int]: ...
        @property
        def f(self) -> RepeatedScalarFieldContainer[float]: ...
        @property
        def b(self) -> RepeatedScalarFieldContainer[bool]: ...
        @property
        def type(self) -> RepeatedScalarFieldContainer[int]: ...
        @property
        def shape(self) -> RepeatedCompositeFieldContainer[TensorShapeProto]: ...
        @property
        def tensor(self) -> RepeatedCompositeFieldContainer[TensorProto]: ...
        @property
        def func(self) -> RepeatedCompositeFieldContainer[NameAttrList]: ...
        def __init__(
            self,
            *,
            s: Iterable[bytes] | None = ...,
            i: Iterable[int] | None = ...,
            f: Iterable[float] | None = ...,
            b: Iterable[bool] | None = ...,
            type: Iterable[int] | None = ...,
            shape: Iterable[TensorShapeProto] | None = ...,
            tensor: Iterable[TensorProto] | None = ...,
            func: Iterable[NameAttrList] | None = ...,
        ) -> None: ...

    @property
    def list(self) -> AttrValue.ListValue: ...
    s: bytes
    i: int
    f: float
    b: bool
    type: int
    @property
    def shape(self) -> TensorShapeProto: ...
    @property
    def tensor(self) -> TensorProto: ...
    placeholder: str
    @property
    def func(self) -> NameAttrList: ...
    def __init__(
        self,
        *,
        list: AttrValue.ListValue | None = ...,
        s: bytes | None = ...,
        i: int | None = ...,
        f: float | None = ...,
        b: bool | None = ...,
        type: int | None = ...,
        shape: TensorShapeProto | None = ...,
        tensor: TensorProto | None = ...,
        placeholder: str | None = ...,
        func: NameAttrList | None = ...,
    ) -> None: ...
    def HasField(
        self, field_name: Literal["list", "s", "i", "f", "b", "type", "shape", "tensor", "placeholder", "func"]
    ) -> bool: ...
    def WhichOneof(
        self, oneof_group: Literal["value"]
    ) -> Literal["list", "s", "i", "f", "b", "type", "shape", "tensor", "placeholder", "func"] | None: ...

class BoolValue(Message):
    value: bool
    def __init__(self, *, value: bool | None = ...) -> None: ...

class BoundedTensorSpecProto(Message):
    name: str
    @property
    def shape(self) -> TensorShapeProto: ...
    dtype: int
    @property
    def minimum(self) -> TensorProto: ...
    @property
    def maximum(self) -> TensorProto: ...
    def __init__(
        self,
        *,
        name: str | None = ...,
        shape: TensorShapeProto | None = ...,
        dtype: int | None = ...,
        minimum: TensorProto | None = ...,
        maximum: TensorProto | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["shape", "minimum", "maximum"]) -> bool: ...

class BundleEntryProto(Message):
    dtype: int
    @property
    def shape(self) -> TensorShapeProto: ...
    shard_id: int
    offset: int
    size: int
    crc32c: int
    @property
    def slices(self) -> RepeatedCompositeFieldContainer[TensorSliceProto]: ...
    def __init__(
        self,
        *,
        dtype: int | None = ...,
        shape: TensorShapeProto | None = ...,
        shard_id: int | None = ...,
        offset: int | None = ...,
        size: int | None = ...,
        crc32c: int | None = ...,
        slices: Iterable[TensorSliceProto] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["shape"]) -> bool: ...

class BundleHeaderProto(Message):
    num_shards: int
    endianness: int
    @property
    def version(self) -> VersionDef: ...
    def __init__(
        self, *, num_shards: int | None = ..., endianness: int | None = ..., version: VersionDef | None = ...
    ) -> None: ...
    def HasField(self, field_name: Literal["version"]) -> bool: ...

class CapturedTensor(Message):
    name: str
    concrete_function: str
    def __init__(self, *, name: str | None = ..., concrete_function: str | None = ...) -> None: ...

class CollectionDef(Message):
    class NodeList(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[str]: ...
        def __init__(self, *, value: Iterable[str] | None = ...) -> None: ...

    class AnyList(Message):
        @property
        def value(self) -> RepeatedCompositeFieldContainer[AnyMessage]: ...
        def __init__(self, *, value: Iterable[AnyMessage] | None = ...) -> None: ...

    @property
    def node_list(self) -> CollectionDef.NodeList: ...
    @property
    def any_list(self) -> CollectionDef.AnyList: ...
    def __init__(
        self, *, node_list: CollectionDef.NodeList | None = ..., any_list: CollectionDef.AnyList | None = ...
    ) -> None: ...
    def HasField(self, field_name: Literal["node_list", "any_list"]) -> bool: ...

class DictValue(Message):
    @property
    def fields(self) -> MessageMap[str, StructuredValue]: ...
    def __init__(self, *, fields: Mapping[str, StructuredValue] | None = ...) -> None: ...

class FullTypeDef(Message):
    type_id: int
    @property
    def args(self) -> RepeatedCompositeFieldContainer[FullTypeDef]: ...
    s: str
    i: int
    def __init__(
        self,
        *,
        type_id: int | None = ...,
        args: Iterable[FullTypeDef] | None = ...,
        s: str | None = ...,
        i: int | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["s", "i"]) -> bool: ...
    def WhichOneof(self, oneof_group: Literal["attr"]) -> Literal["s", "i"] | None: ...

class FunctionDef(Message):
    class ArgAttrs(Message):
        @property
        def attr(self) -> MessageMap[str, AttrValue]: ...
        def __init__(self, *, attr: Mapping[str, AttrValue] | None = ...) -> None: ...

    @property
    def signature(self) -> OpDef: ...
    @property
    def node_def(self) -> RepeatedCompositeFieldContainer[NodeDef]: ...
    @property
    def ret(self) -> ScalarMap[str, str]: ...
    @property
    def attr(self) -> MessageMap[str, AttrValue]: ...
    @property
    def control_ret(self) -> ScalarMap[str, str]: ...
    @property
    def arg_attr(self) -> MessageMap[int, FunctionDef.ArgAttrs]: ...
    @property
    def resource_arg_unique_id(self) -> ScalarMap[int, int]: ...
    def __init__(
        self,
        *,
        signature: OpDef | None = ...,
        node_def: Iterable[NodeDef] | None = ...,
        ret: Mapping[str, str] | None = ...,
        attr: Mapping[str, AttrValue] | None = ...,
        control_ret: Mapping[str, str] | None = ...,
        arg_attr: Mapping[int, FunctionDef.ArgAttrs] | None = ...,
        resource_arg_unique_id: Mapping[int, int] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["signature"]) -> bool: ...

class FunctionDefLibrary(Message):
    @property
    def function(self) -> RepeatedCompositeFieldContainer[FunctionDef]: ...
    @property
    def gradient(self) -> RepeatedCompositeFieldContainer[GradientDef]: ...
    @property
    def registered_gradients(self) -> RepeatedCompositeFieldContainer[RegisteredGradient]: ...
    def __init__(
        self,
        *,
        function: Iterable[FunctionDef] | None = ...,
        gradient: Iterable[GradientDef] | None = ...,
        registered_gradients: Iterable[RegisteredGradient] | None = ...,
    ) -> None: ...

class FunctionSpec(Message):
    @property
    def fullargspec(self) -> StructuredValue: ...
    is_method: bool
    @property
    def input_signature(self) -> StructuredValue: ...
    jit_compile: int
    def __init__(
        self,
        *,
        fullargspec: StructuredValue | None = ...,
        is_method: bool | None = ...,
        input_signature: StructuredValue | None = ...,
        jit_compile: int | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["fullargspec", "input_signature"]) -> bool: ...

class GradientDef(Message):
    function_name: str
    gradient_func: str
    def __init__(self, *, function_name: str | None = ..., gradient_func: str | None = ...) -> None: ...

class GraphDef(Message):
    @property
    def node(self) -> RepeatedCompositeFieldContainer[NodeDef]: ...
    @property
    def library(self) -> FunctionDefLibrary: ...
    version: int
    @property
    def versions(self) -> VersionDef: ...
    def __init__(
        self,
        *,
        node: Iterable[NodeDef] | None = ...,
        library: FunctionDefLibrary | None = ...,
        version: int | None = ...,
        versions: VersionDef | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["library", "versions"]) -> bool: ...

class KerasMetadata(Message):
    @property
    def nodes(self) -> RepeatedCompositeFieldContainer[KerasObject]: ...
    def __init__(self, *, nodes: Iterable[KerasObject] | None = ...) -> None: ...

class KerasObject(Message):
    node_id: int
    metadata: str
    def __init__(self, *, node_id: int | None = ..., metadata: str | None = ...) -> None: ...

class ListValue(Message):
    @property
    def values(self) -> RepeatedCompositeFieldContainer[StructuredValue]: ...
    def __init__(self, *, values: Iterable[StructuredValue] | None = ...) -> None: ...

class MetaGraphDef(Message):
    class MetaInfoDef(Message):
        meta_graph_version: str
        @property
        def stripped_op_list(self) -> OpList: ...
        @property
        def tags(self) -> RepeatedScalarFieldContainer[str]: ...
        tensorflow_version: str
        tensorflow_git_version: str
        stripped_default_attrs: bool
        @property
        def function_aliases(self) -> ScalarMap[str, str]: ...
        def __init__(
            self,
            *,
            meta_graph_version: str | None = ...,
            stripped_op_list: OpList | None = ...,
            tags: Iterable[str] | None = ...,
            tensorflow_version: str | None = ...,
            tensorflow_git_version: str | None = ...,
            stripped_default_attrs: bool | None = ...,
            function_aliases: Mapping[str, str] | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["stripped_op_list"]) -> bool: ...

    @property
    def meta_info_def(self) -> MetaGraphDef.MetaInfoDef: ...
    @property
    def graph_def(self) -> GraphDef: ...
    @property
    def saver_def(self) -> SaverDef: ...
    @property
    def collection_def(self) -> ScalarMap[str, bytes]: ...
    @property
    def signature_def(self) -> MessageMap[str, SignatureDef]: ...
    @property
    def asset_file_def(self) -> RepeatedCompositeFieldContainer[AssetFileDef]: ...
    @property
    def object_graph_def(self) -> SavedObjectGraph: ...
    def __init__(
        self,
        *,
        meta_info_def: MetaGraphDef.MetaInfoDef | None = ...,
        graph_def: GraphDef | None = ...,
        saver_def: SaverDef | None = ...,
        collection_def: Mapping[str, bytes] | None = ...,
        signature_def: Mapping[str, SignatureDef] | None = ...,
        asset_file_def: Iterable[AssetFileDef] | None = ...,
        object_graph_def: SavedObjectGraph | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["meta_info_def", "graph_def", "saver_def", "object_graph_def"]) -> bool: ...

class NameAttrList(Message):
    name: str
    @property
    def attr(self) -> MessageMap[str, AttrValue]: ...
    def __init__(self, *, name: str | None = ..., attr: Mapping[str, AttrValue] | None = ...) -> None: ...

class NamedTupleValue(Message):
    name: str
    @property
    def values(self) -> RepeatedCompositeFieldContainer[PairValue]: ...
    def __init__(self, *, name: str | None = ..., values: Iterable[PairValue] | None = ...) -> None: ...

class NodeDef(Message):
    class ExperimentalDebugInfo(Message):
        @property
        def original_node_names(self) -> RepeatedScalarFieldContainer[str]: ...
        @property
        def original_func_names(self) -> RepeatedScalarFieldContainer[str]: ...
        def __init__(
            self, *, original_node_names: Iterable[str] | None = ..., original_func_names: Iterable[str] | None = ...
        ) -> None: ...

    name: str
    op: str
    @property
    def input(self) -> RepeatedScalarFieldContainer[str]: ...
    device: str
    @property
    def attr(self) -> MessageMap[str, AttrValue]: ...
    @property
    def experimental_debug_info(self) -> NodeDef.ExperimentalDebugInfo: ...
    @property
    def experimental_type(self) -> FullTypeDef: ...
    def __init__(
        self,
        *,
        name: str | None = ...,
        op: str | None = ...,
        input: Iterable[str] | None = ...,
        device: str | None = ...,
        attr: Mapping[str, AttrValue] | None = ...,
        experimental_debug_info: NodeDef.ExperimentalDebugInfo | None = ...,
        experimental_type: FullTypeDef | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["experimental_debug_info", "experimental_type"]) -> bool: ...

class NoneValue(Message):
    def __init__(self) -> None: ...

class OpDef(Message):
    class ArgDef(Message):
        name: str
        description: str
        type: int
        type_attr: str
        number_attr: str
        type_list_attr: str
        @property
        def handle_data(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]: ...
        is_ref: bool
        @property
        def experimental_full_type(self) -> FullTypeDef: ...
        def __init__(
            self,
            *,
            name: str | None = ...,
            description: str | None = ...,
            type: int | None = ...,
            type_attr: str | None = ...,
            number_attr: str | None = ...,
            type_list_attr: str | None = ...,
            handle_data: Iterable[ResourceHandleProto.DtypeAndShape] | None = ...,
            is_ref: bool | None = ...,
            experimental_full_type: FullTypeDef | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["experimental_full_type"]) -> bool: ...

    class AttrDef(Message):
        name: str
        type: str
        @property
        def default_value(self) -> AttrValue: ...
        description: str
        has_minimum: bool
        minimum: int
        @property
        def allowed_values(self) -> AttrValue: ...
        def __init__(
            self,
            *,
            name: str | None = ...,
            type: str | None = ...,
            default_value: AttrValue | None = ...,
            description: str | None = ...,
            has_minimum: bool | None = ...,
            minimum: int | None = ...,
            allowed_values: AttrValue | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["default_value", "allowed_values"]) -> bool: ...

    name: str
    @property
    def input_arg(self) -> RepeatedCompositeFieldContainer[OpDef.ArgDef]: ...
    @property
    def output_arg(self) -> RepeatedCompositeFieldContainer[OpDef.ArgDef]: ...
    @property
    def attr(self) -> RepeatedCompositeFieldContainer[OpDef.AttrDef]: ...
    summary: str
    description: str
    @property
    def deprecation(self) -> OpDeprecation: ...
    is_aggregate: bool
    is_stateful: bool
    is_commutative: bool
    allows_uninitialized_input: bool
    @property
    def control_output(self) -> RepeatedScalarFieldContainer[str]: ...
    is_distributed_communication: bool
    def __init__(
        self,
        *,
        name: str | None = ...,
        input_arg: Iterable[OpDef.ArgDef] | None = ...,
        output_arg: Iterable[OpDef.ArgDef] | None = ...,
        attr: Iterable[OpDef.AttrDef] | None = ...,
        summary: str | None = ...,
        description: str | None = ...,
        deprecation: OpDeprecation | None = ...,
        is_aggregate: bool | None = ...,
        is_stateful: bool | None = ...,
        is_commutative: bool | None = ...,
        allows_uninitialized_input: bool | None = ...,
        control_output: Iterable[str] | None = ...,
        is_distributed_communication: bool | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["deprecation"]) -> bool: ...

class OpDeprecation(Message):
    version: int
    explanation: str
    def __init__(self, *, version: int | None = ..., explanation: str | None = ...) -> None: ...

class OpList(Message):
    @property
    def op(self) -> RepeatedCompositeFieldContainer[OpDef]: ...
    def __init__(self, *, op: Iterable[OpDef] | None = ...) -> None: ...

class OpRegistryFile(Message):
    tensorflow_version: str
    @property
    def ops(self) -> ScalarMap[str, bytes]: ...
    def __init__(self, *, tensorflow_version: str | None = ..., ops: Mapping[str, bytes] | None = ...) -> None: ...

class PairValue(Message):
    key: str
    @property
    def value(self) -> StructuredValue: ...
    def __init__(self, *, key: str | None = ..., value: StructuredValue | None = ...) -> None: ...
    def HasField(self, field_name: Literal["value"]) -> bool: ...

class RegisteredGradient(Message):
    gradient_func: str
    registered_op_type: str
    def __init__(self, *, gradient_func: str | None = ..., registered_op_type: str | None = ...) -> None: ...

class RegisteredSaver(Message):
    name: str
    object_name: str
    def __init__(self, *, name: str | None = ..., object_name: str | None = ...) -> None: ...

class ResourceHandleProto(Message):
    class DtypeAndShape(Message):
        dtype: int
        @property
        def shape(self) -> TensorShapeProto: ...
        def __init__(self, *, dtype: int | None = ..., shape: TensorShapeProto | None = ...) -> None: ...
        def HasField(self, field_name: Literal["shape"]) -> bool: ...

    device: str
    container: str
    name: str
    hash_code: int
    maybe_type_name: str
    @property
    def dtypes_and_shapes(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]: ...
    def __init__(
        self,
        *,
        device: str | None = ...,
        container: str | None = ...,
        name: str | None = ...,
        hash_code: int | None = ...,
        maybe_type_name: str | None = ...,
        dtypes_and_shapes: Iterable[ResourceHandleProto.DtypeAndShape] | None = ...,
    ) -> None: ...

class SaveableObject(Message):
    save_function: int
    restore_function: int
    def __init__(self, *, save_function: int | None = ..., restore_function: int | None = ...) -> None: ...

class SavedAsset(Message):
    asset_file_def_index: int
    def __init__(self, *, asset_file_def_index: int | None = ...) -> None: ...

class SavedBareConcreteFunction(Message):
    concrete_function_name: str
    @property
    def argument_keywords(self) -> RepeatedScalarFieldContainer[str]: ...
    allowed_positional_arguments: int
    @property
    def function_spec(self) -> FunctionSpec: ...
    def __init__(
        self,
        *,
        concrete_function_name: str | None = ...,
        argument_keywords: Iterable[str] | None = ...,
        allowed_positional_arguments: int | None = ...,
        function_spec: FunctionSpec | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["function_spec"]) -> bool: ...

class SavedConcreteFunction(Message):
    @property
    def bound_inputs(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def canonicalized_input_signature(self) -> StructuredValue: ...
    @property
    def output_signature(self) -> StructuredValue: ...
    def __init__(
        self,
        *,
        bound_inputs: Iterable[int] | None = ...,
        canonicalized_input_signature: StructuredValue | None = ...,
        output_signature: StructuredValue | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["canonicalized_input_signature", "output_signature"]) -> bool: ...

class SavedConstant(Message):
    operation: str
    def __init__(self, *, operation: str | None = ...) -> None: ...

class SavedFunction(Message):
    @property
    def concrete_functions(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def function_spec(self) -> FunctionSpec: ...
    def __init__(
        self, *, concrete_functions: Iterable[str] | None = ..., function_spec: FunctionSpec | None = ...
    ) -> None: ...
    def HasField(self, field_name: Literal["function_spec"]) -> bool: ...

class SavedModel(Message):
    saved_model_schema_version: int
    @property
    def meta_graphs(self) -> RepeatedCompositeFieldContainer[MetaGraphDef]: ...
    def __init__(
        self, *, saved_model_schema_version: int | None = ..., meta_graphs: Iterable[MetaGraphDef] | None = ...
    ) -> None: ...

class SavedObject(Message):
    @property
    def children(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.ObjectReference]: ...
    @property
    def slot_variables(
        self,
    ) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.SlotVariableReference]: ...
    @property
    def user_object(self) -> SavedUserObject: ...
    @property
    def asset(self) -> SavedAsset: ...
    @property
    def function(self) -> SavedFunction: ...
    @property
    def variable(self) -> SavedVariable: ...
    @property
    def bare_concrete_function(self) -> SavedBareConcreteFunction: ...
    @property
    def constant(self) -> SavedConstant: ...
    @property
    def resource(self) -> SavedResource: ...
    @property
    def captured_tensor(self) -> CapturedTensor: ...
    @property
    def saveable_objects(self) -> MessageMap[str, SaveableObject]: ...
    registered_name: str
    @property
    def dependencies(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.ObjectReference]: ...
    registered_saver: str
    def __init__(
        self,
        *,
        children: Iterable[TrackableObjectGraph.TrackableObject.ObjectReference] | None = ...,
        slot_variables: Iterable[TrackableObjectGraph.TrackableObject.SlotVariableReference] | None = ...,
        user_object: SavedUserObject | None = ...,
        asset: SavedAsset | None = ...,
        function: SavedFunction | None = ...,
        variable: SavedVariable | None = ...,
        bare_concrete_function: SavedBareConcreteFunction | None = ...,
        constant: SavedConstant | None = ...,
        resource: SavedResource | None = ...,
        captured_tensor: CapturedTensor | None = ...,
        saveable_objects: Mapping[str, SaveableObject] | None = ...,
        registered_name: str | None = ...,
        dependencies: Iterable[TrackableObjectGraph.TrackableObject.ObjectReference] | None = ...,
        registered_saver: str | None = ...,
    ) -> None: ...
    def HasField(
        self,
        field_name: Literal[
            "user_object",
            "asset",
            "function",
            "variable",
            "bare_concrete_function",
            "constant",
            "resource",
            "captured_tensor",
        ],
    ) -> bool: ...
    def WhichOneof(
        self, oneof_group: Literal["kind"]
    ) -> (
        Literal[
            "user_object",
            "asset",
            "function",
            "variable",
            "bare_concrete_function",
            "constant",
            "resource",
            "captured_tensor",
        ]
        | None
    ): ...

class SavedObjectGraph(Message):
    @property
    def nodes(self) -> RepeatedCompositeFieldContainer[SavedObject]: ...
    @property
    def concrete_functions(self) -> MessageMap[str, SavedConcreteFunction]: ...
    def __init__(
        self,
        *,
        nodes: Iterable[SavedObject] | None = ...,
        concrete_functions: Mapping[str, SavedConcreteFunction] | None = ...,
    ) -> None: ...

class SavedResource(Message):
    device: str
    def __init__(self, *, device: str | None = ...) -> None: ...

class SavedUserObject(Message):
    identifier: str
    @property
    def version(self) -> VersionDef: ...
    metadata: str
    def __init__(
        self, *, identifier: str | None = ..., version: VersionDef | None = ..., metadata: str | None = ...
    ) -> None: ...
    def HasField(self, field_name: Literal["version"]) -> bool: ...

class SavedVariable(Message):
    dtype: int
    @property
    def shape(self) -> TensorShapeProto: ...
    trainable: bool
    synchronization: int
    aggregation: int
    name: str
    device: str
    @property
    def experimental_distributed_variable_components(self) -> RepeatedCompositeFieldContainer[SavedVariable]: ...
    def __init__(
        self,
        *,
        dtype: int | None = ...,
        shape: TensorShapeProto | None = ...,
        trainable: bool | None = ...,
        synchronization: int | None = ...,
        aggregation: int | None = ...,
        name: str | None = ...,
        device: str | None = ...,
        experimental_distributed_variable_components: Iterable[SavedVariable] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["shape"]) -> bool: ...

class SaverDef(Message):
    filename_tensor_name: str
    save_tensor_name: str
    restore_op_name: str
    max_to_keep: int
    sharded: bool
    keep_checkpoint_every_n_hours: float
    version: int
    def __init__(
        self,
        *,
        filename_tensor_name: str | None = ...,
        save_tensor_name: str | None = ...,
        restore_op_name: str | None = ...,
        max_to_keep: int | None = ...,
        sharded: bool | None = ...,
        keep_checkpoint_every_n_hours: float | None = ...,
        version: int | None = ...,
    ) -> None: ...

class SignatureDef(Message):
    @property
    def inputs(self) -> MessageMap[str, TensorInfo]: ...
    @property
    def outputs(self) -> MessageMap[str, TensorInfo]: ...
    method_name: str
    @property
    def defaults(self) -> MessageMap[str, TensorProto]: ...
    def __init__(
        self,
        *,
        inputs: Mapping[str, TensorInfo] | None = ...,
        outputs: Mapping[str, TensorInfo] | None = ...,
        method_name: str | None = ...,
        defaults: Mapping[str, TensorProto] | None = ...,
    ) -> None: ...

class StructuredValue(Message):
    @property
    def none_value(self) -> NoneValue: ...
    float64_value: float
    int64_value: int
    string_value: str
    bool_value: bool
    @property
    def tensor_shape_value(self) -> TensorShapeProto: ...
    tensor_dtype_value: int
    @property
    def tensor_spec_value(self) -> TensorSpecProto: ...
    @property
    def type_spec_value(self) -> TypeSpecProto: ...
    @property
    def bounded_tensor_spec_value(self) -> BoundedTensorSpecProto: ...
    @property
    def list_value(self) -> ListValue: ...
    @property
    def tuple_value(self) -> TupleValue: ...
    @property
    def dict_value(self) -> DictValue: ...
    @property
    def named_tuple_value(self) -> NamedTupleValue: ...
    @property
    def tensor_value(self) -> TensorProto: ...
    @property
    def numpy_value(self) -> TensorProto: ...
    def __init__(
        self,
        *,
        none_value: NoneValue | None = ...,
        float64_value: float | None = ...,
        int64_value: int | None = ...,
        string_value: str | None = ...,
        bool_value: bool | None = ...,
        tensor_shape_value: TensorShapeProto | None = ...,
        tensor_dtype_value: int | None = ...,
        tensor_spec_value: TensorSpecProto | None = ...,
        type_spec_value: TypeSpecProto | None = ...,
        bounded_tensor_spec_value: BoundedTensorSpecProto | None = ...,
        list_value: ListValue | None = ...,
        tuple_value: TupleValue | None = ...,
        dict_value: DictValue | None = ...,
        named_tuple_value: NamedTupleValue | None = ...,
        tensor_value: TensorProto | None = ...,
        numpy_value: TensorProto | None = ...,
    ) -> None: ...
    def HasField(
        self,
        field_name: Literal[
            "none_value",
            "float64_value",
            "int64_value",
            "string_value",
            "bool_value",
            "tensor_shape_value",
            "tensor_dtype_value",
            "tensor_spec_value",
            "type_spec_value",
            "bounded_tensor_spec_value",
            "list_value",
            "tuple_value",
            "dict_value",
            "named_tuple_value",
            "tensor_value",
            "numpy_value",
        ],
    ) -> bool: ...
    def WhichOneof(
        self, oneof_group: Literal["kind"]
    ) -> (
        Literal[
            "none_value",
            "float64_value",
            "int64_value",
            "string_value",
            "bool_value",
            "tensor_shape_value",
            "tensor_dtype_value",
            "tensor_spec_value",
            "type_spec_value",
            "bounded_tensor_spec_value",
            "list_value",
            "tuple_value",
            "dict_value",
            "named_tuple_value",
            "tensor_value",
            "numpy_value",
        ]
        | None
    ): ...

class TensorInfo(Message):
    class CooSparse(Message):
        values_tensor_name: str
        indices_tensor_name: str
        dense_shape_tensor_name: str
        def __init__(
            self,
            *,
            values_tensor_name: str | None = ...,
            indices_tensor_name: str | None = ...,
            dense_shape_tensor_name: str | None = ...,
        ) -> None: ...

    class CompositeTensor(Message):
        @property
        def type_spec(self) -> TypeSpecProto: ...
        @property
        def components(self) -> RepeatedCompositeFieldContainer[TensorInfo]: ...
        def __init__(
            self, *, type_spec: TypeSpecProto | None = ..., components: Iterable[TensorInfo] | None = ...
        ) -> None: ...
        def HasField(self, field_name: Literal["type_spec"]) -> bool: ...

    name: str
    @property
    def coo_sparse(self) -> TensorInfo.CooSparse: ...
    @property
    def composite_tensor(self) -> TensorInfo.CompositeTensor: ...
    dtype: int
    @property
    def tensor_shape(self) -> TensorShapeProto: ...
    def __init__(
        self,
        *,
        name: str | None = ...,
        coo_sparse: TensorInfo.CooSparse | None = ...,
        composite_tensor: TensorInfo.CompositeTensor | None = ...,
        dtype: int | None = ...,
        tensor_shape: TensorShapeProto | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["name", "coo_sparse", "composite_tensor", "tensor_shape"]) -> bool: ...
    def WhichOneof(
        self, oneof_group: Literal["encoding"]
    ) -> Literal["name", "coo_sparse", "composite_tensor"] | None: ...

class TensorProto(Message):
    dtype: int
    @property
    def tensor_shape(self) -> TensorShapeProto: ...
    version_number: int
    tensor_content: bytes
    @property
    def float_val(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def double_val(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def int_val(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def string_val(self) -> RepeatedScalarFieldContainer[bytes]: ...
    @property
    def scomplex_val(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def int64_val(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def bool_val(self) -> RepeatedScalarFieldContainer[bool]: ...
    @property
    def dcomplex_val(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def half_val(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def resource_handle_val(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto]: ...
    @property
    def variant_val(self) -> RepeatedCompositeFieldContainer[VariantTensorDataProto]: ...
    @property
    def uint32_val(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def uint64_val(self) -> RepeatedScalarFieldContainer[int]: ...
    float8_val: bytes
    def __init__(
        self,
        *,
        dtype: int | None = ...,
        tensor_shape: TensorShapeProto | None = ...,
        version_number: int | None = ...,
        tensor_content: bytes | None = ...,
        float_val: Iterable[float] | None = ...,
        double_val: Iterable[float] | None = ...,
        int_val: Iterable[int] | None = ...,
        string_val: Iterable[bytes] | None = ...,
        scomplex_val: Iterable[float] | None = ...,
        int64_val: Iterable[int] | None = ...,
        bool_val: Iterable[bool] | None = ...,
        dcomplex_val: Iterable[float] | None = ...,
        half_val: Iterable[int] | None = ...,
        resource_handle_val: Iterable[ResourceHandleProto] | None = ...,
        variant_val: Iterable[VariantTensorDataProto] | None = ...,
        uint32_val: Iterable[int] | None = ...,
        uint64_val: Iterable[int] | None = ...,
        float8_val: bytes | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["tensor_shape"]) -> bool: ...

class TensorShapeProto(Message):
    class Dim(Message):
        size: int
        name: str
        def __init__(self, *, size: int | None = ..., name: str | None = ...) -> None: ...

    @property
    def dim(self) -> RepeatedCompositeFieldContainer[TensorShapeProto.Dim]: ...
    unknown_rank: bool
    def __init__(
        self, *, dim: Iterable[TensorShapeProto.Dim] | None = ..., unknown_rank: bool | None = ...
    ) -> None: ...

class TensorSliceProto(Message):
    class Extent(Message):
        start: int
        length: int
        def __init__(self, *, start: int | None = ..., length: int | None = ...) -> None: ...
        def HasField(self, field_name: Literal["length"]) -> bool: ...
        def WhichOneof(self, oneof_group: Literal["has_length"]) -> Literal["length"] | None: ...

    @property
    def extent(self) -> RepeatedCompositeFieldContainer[TensorSliceProto.Extent]: ...
    def __init__(self, *, extent: Iterable[TensorSliceProto.Extent] | None = ...) -> None: ...

class TensorSpecProto(Message):
    name: str
    @property
    def shape(self) -> TensorShapeProto: ...
    dtype: int
    def __init__(
        self, *, name: str | None = ..., shape: TensorShapeProto | None = ..., dtype: int | None = ...
    ) -> None: ...
    def HasField(self, field_name: Literal["shape"]) -> bool: ...

class TrackableObjectGraph(Message):
    class TrackableObject(Message):
        class ObjectReference(Message):
            node_id: int
            local_name: str
            def __init__(self, *, node_id: int | None = ..., local_name: str | None = ...) -> None: ...

        class SerializedTensor(Message):
            name: str
            full_name: str
            checkpoint_key: str
            def __init__(
                self, *, name: str | None = ..., full_name: str | None = ..., checkpoint_key: str | None = ...
            ) -> None: ...

        class SlotVariableReference(Message):
            original_variable_node_id: int
            slot_name: str
            slot_variable_node_id: int
            def __init__(
                self,
                *,
                original_variable_node_id: int | None = ...,
                slot_name: str | None = ...,
                slot_variable_node_id: int | None = ...,
            ) -> None: ...

        @property
        def children(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.ObjectReference]: ...
        @property
        def attributes(
            self,
        ) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.SerializedTensor]: ...
        @property
        def slot_variables(
            self,
        ) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.SlotVariableReference]: ...
        @property
        def registered_saver(self) -> RegisteredSaver: ...
        @property
        def has_checkpoint_values(self) -> BoolValue: ...
        def __init__(
            self,
            *,
            children: Iterable[TrackableObjectGraph.TrackableObject.ObjectReference] | None = ...,
            attributes: Iterable[TrackableObjectGraph.TrackableObject.SerializedTensor] | None = ...,
            slot_variables: Iterable[TrackableObjectGraph.TrackableObject.SlotVariableReference] | None = ...,
            registered_saver: RegisteredSaver | None = ...,
            has_checkpoint_values: BoolValue | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["registered_saver", "has_checkpoint_values"]) -> bool: ...

    @property
    def nodes(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject]: ...
    def __init__(self, *, nodes: Iterable[TrackableObjectGraph.TrackableObject] | None = ...) -> None: ...

class TupleValue(Message):
    @property
    def values(self) -> RepeatedCompositeFieldContainer[StructuredValue]: ...
    def __init__(self, *, values: Iterable[StructuredValue] | None = ...) -> None: ...

class TypeSpecProto(Message):
    type_spec_class: int
    @property
    def type_state(self) -> StructuredValue: ...
    type_spec_class_name: str
    num_flat_components: int
    def __init__(
        self,
        *,
        type_spec_class: int | None = ...,
        type_state: StructuredValue | None = ...,
        type_spec_class_name: str | None = ...,
        num_flat_components: int | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["type_state"]) -> bool: ...

class VariantTensorDataProto(Message):
    type_name: str
    metadata: bytes
    @property
    def tensors(self) -> RepeatedCompositeFieldContainer[TensorProto]: ...
    def __init__(
        self, *, type_name: str | None = ..., metadata: bytes | None = ..., tensors: Iterable[TensorProto] | None = ...
    ) -> None: ...

class VersionDef(Message):
    producer: int
    min_consumer: int
    @property
    def bad_consumers(self) -> RepeatedScalarFieldContainer[int]: ...
    def __init__(
        self, *, producer: int | None = ..., min_consumer: int | None = ..., bad_consumers: Iterable[int] | None = ...
    ) -> None: ...
