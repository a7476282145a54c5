"""The names of ``tf.compat.v1.lite``: frozen graphs, sessions, Keras files."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from litefuse.errors import SettingError
from litefuse.support.cloud.paths import local
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.conversion import Graph
from litefuse.tools.compat.base import Converter
from litefuse.tools.compat.settings import NEEDLESS, NEEDLESS_1, REFUSED, REFUSED_1
from litefuse.tools.compat.spec import OpsSet, Optimize, RepresentativeDataset, TargetSpec

__all__ = [
    "OpsSet",
    "Optimize",
    "RepresentativeDataset",
    "TFLiteConverter",
    "TargetSpec",
    "constants",
]

#: The constants of data types and formats.
constants = SimpleNamespace(
    FLOAT="float32",
    FLOAT16="float16",
    INT8="int8",
    INT16="int16",
    INT32="int32",
    INT64="int64",
    QUANTIZED_UINT8="uint8",
    STRING="string",
    TFLITE="TFLITE",
    GRAPHVIZ_DOT="GRAPHVIZ_DOT",
)

_KEY = "serving_default"
_Shapes = Mapping[str, "Sequence[int | None] | None"]


class TFLiteConverter(Converter):
    """Converts models as ``tf.compat.v1.lite.TFLiteConverter`` does, by :func:`litefuse.convert`.

    It has the attributes of TensorFlow 1 besides; those of quantization by its older ways only have their defaults.
    """

    _needless: ClassVar[Mapping[str, Any]] = {**NEEDLESS, **NEEDLESS_1}
    _refused: ClassVar[Mapping[str, Any]] = {**REFUSED, **REFUSED_1}

    @classmethod
    def _of(cls, model: object, shapes: _Shapes | None = None, **arguments: Any) -> TFLiteConverter:
        converter = cls.__new__(cls)
        given = {name: shape for name, shape in (shapes or {}).items() if shape is not None}
        Converter.__init__(converter, model, shapes=given or None, **arguments)
        return converter

    @classmethod
    def from_frozen_graph(
        cls,
        graph_def_file: str | os.PathLike[str],
        input_arrays: Sequence[str],
        output_arrays: Sequence[str],
        input_shapes: _Shapes | None = None,
    ) -> TFLiteConverter:
        """Makes a converter of a frozen graph.

        Args:
            graph_def_file: The file, ``.pb`` or ``.pbtxt``, or its URL.
            input_arrays: The tensors that are its inputs.
            output_arrays: The tensors that are its outputs.
            input_shapes: Shapes of inputs by their names, where the graph leaves sizes open.

        Raises:
            SettingError: No such file, or its name does not say that it is a graph.
        """
        path = Path(os.fspath(local(graph_def_file)))
        if not path.is_file() or path.suffix not in {".pb", ".pbtxt"}:
            why = "has another ending than .pb and .pbtxt" if path.is_file() else "is not there"
            raise SettingError(f"the file of the frozen graph {why}", where=str(path))
        return cls._of(path, input_shapes, graph=Graph(inputs=list(input_arrays), outputs=list(output_arrays)))

    @classmethod
    def from_session(cls, sess: Any, input_tensors: Sequence[Any], output_tensors: Sequence[Any]) -> TFLiteConverter:
        """Makes a converter of a session's graph, whose variables become constants now.

        Args:
            sess: A ``tf.compat.v1.Session``.
            input_tensors: Its tensors that are the model's inputs.
            output_tensors: Its tensors that are the model's outputs.
        """
        tf: Any = sys.modules["tensorflow"]
        outputs = [tensor.op.name for tensor in output_tensors]
        frozen = tf.compat.v1.graph_util.convert_variables_to_constants(sess, sess.graph_def, outputs)
        folder = make_temporary_folder()
        path = Path(folder.name, "session.pb")
        path.write_bytes(frozen.SerializeToString())
        shapes = {_name(tensor): tensor.shape.as_list() for tensor in input_tensors if tensor.shape.rank is not None}
        return cls._of(
            path,
            shapes,
            kept=folder,
            graph=Graph(inputs=[*map(_name, input_tensors)], outputs=[*map(_name, output_tensors)]),
        )

    @classmethod
    def from_saved_model(
        cls,
        saved_model_dir: str | os.PathLike[str],
        input_arrays: Sequence[str] | None = None,
        input_shapes: _Shapes | None = None,
        output_arrays: Sequence[str] | None = None,
        tag_set: Collection[str] | None = None,
        signature_key: str | None = None,
    ) -> TFLiteConverter:
        """Makes a converter of one signature of a SavedModel.

        Args:
            saved_model_dir: Its folder.
            input_arrays: Not there: the inputs are those of the signature.
            input_shapes: Shapes of inputs by their names, where the model leaves sizes open.
            output_arrays: Not there either.
            tag_set: The tags of the graph; None for the one for serving.
            signature_key: The key of the signature; None for ``serving_default``.

        Raises:
            SettingError: Tensors are named for inputs or outputs.
        """
        if input_arrays or output_arrays:
            raise SettingError(
                "the inputs and outputs of a SavedModel are those of its signature",
                hint="Leave out input_arrays and output_arrays, or freeze the graph, and use from_frozen_graph.",
            )
        return cls._of(saved_model_dir, input_shapes, signatures=[signature_key or _KEY], graph=Graph(tags=tag_set))

    @classmethod
    def from_keras_model_file(
        cls,
        model_file: str | os.PathLike[str],
        input_arrays: Sequence[str] | None = None,
        input_shapes: _Shapes | None = None,
        output_arrays: Sequence[str] | None = None,
        custom_objects: Mapping[str, Any] | None = None,
    ) -> TFLiteConverter:
        """Makes a converter of a Keras file, which is read in a process of its own.

        Args:
            model_file: The file, ``.keras`` or ``.h5``.
            input_arrays: Not there: the inputs are those of the model.
            input_shapes: Shapes of inputs by their names, where the model leaves sizes open.
            output_arrays: Not there either.
            custom_objects: Not there: no code of a file is run.

        Raises:
            SettingError: One of those that are not there was given.
        """
        if input_arrays or output_arrays or custom_objects:
            raise SettingError(
                "a Keras file is read in a separate process, without custom objects or chosen tensors",
                hint="Load the model, and use from_keras_model of litefuse.compat.TFLiteConverter.",
            )
        return cls._of(model_file, input_shapes)

    def get_input_arrays(self) -> list[str]:
        """Returns the names of the inputs that were given, or those with given shapes."""
        graph: Graph = self._arguments.get("graph") or Graph()
        return list(graph.inputs or self._arguments.get("shapes") or ())

    @property
    def post_training_quantize(self) -> bool:
        """Whether ``optimizations`` has ``DEFAULT``; deprecated."""
        return any(str(getattr(optimization, "name", optimization)) == "DEFAULT" for optimization in self.optimizations)

    @post_training_quantize.setter
    def post_training_quantize(self, value: bool) -> None:
        warnings.warn("post_training_quantize is now optimizations=[Optimize.DEFAULT]", FutureWarning, stacklevel=2)
        self.optimizations = [Optimize.DEFAULT] if value else []

    @property
    def target_ops(self) -> Any:
        """The attribute ``target_spec.supported_ops``; deprecated."""
        return self.target_spec.supported_ops

    @target_ops.setter
    def target_ops(self, value: Any) -> None:
        warnings.warn("target_ops is now target_spec.supported_ops", FutureWarning, stacklevel=2)
        self.target_spec.supported_ops = value


def _name(tensor: Any) -> str:
    name = str(tensor.name)
    return name.removesuffix(":0")
