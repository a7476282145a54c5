"""TFLiteConverter of TensorFlow 2."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from litefuse.errors import SettingError
from litefuse.support.options.conversion import Graph
from litefuse.tools.compat.base import Converter

_KEY = "serving_default"


class TFLiteConverter(Converter):
    """Converts models as ``tf.lite.TFLiteConverter`` does, by :func:`litefuse.convert`.

    Example::

        from litefuse.tools.compat import Optimize, TFLiteConverter

        converter = TFLiteConverter.from_saved_model("my_saved_model")
        converter.optimizations = [Optimize.DEFAULT]
        model = converter.convert()
        print(converter.report)

    Args:
        funcs: Concrete functions; see :meth:`from_concrete_functions`.
        trackable_obj: The object that has their variables.
    """

    def __init__(self, funcs: Sequence[Any], trackable_obj: object = None) -> None:
        super().__init__(_functions(funcs), kept=(list(funcs), trackable_obj))

    @classmethod
    def _of(cls, model: object, **arguments: Any) -> TFLiteConverter:
        converter = cls.__new__(cls)
        Converter.__init__(converter, model, **arguments)
        return converter

    @classmethod
    def from_saved_model(
        cls,
        saved_model_dir: str | os.PathLike[str],
        signature_keys: Sequence[str] | None = None,
        tags: Collection[str] | None = None,
    ) -> TFLiteConverter:
        """Makes a converter of a SavedModel.

        Args:
            saved_model_dir: Its folder.
            signature_keys: The keys of the signatures to convert; None or none for all.
            tags: The tags of the graph to convert; None for the one for serving.
        """
        signatures = list(signature_keys) if signature_keys and not isinstance(signature_keys, str) else signature_keys
        return cls._of(saved_model_dir, signatures=signatures or None, graph=Graph(tags=tags))

    @classmethod
    def from_keras_model(cls, model: object) -> TFLiteConverter:
        """Makes a converter of a Keras model: of Keras 3 on TensorFlow or JAX, or of Keras 2."""
        return cls._of(model)

    @classmethod
    def from_concrete_functions(cls, funcs: Sequence[Any], trackable_obj: object = None) -> TFLiteConverter:
        """Makes a converter of concrete functions.

        Args:
            funcs: The functions. One gives the signature ``serving_default``, several those of their names.
            trackable_obj: The object that has their variables, which is kept as long as the converter.

        Raises:
            SettingError: There are none, or one is not a concrete function, or two have one name.
        """
        return cls(funcs, trackable_obj)

    @classmethod
    def from_frozen_graph(
        cls,
        graph_def_file: str | os.PathLike[str],
        input_arrays: Sequence[str],
        output_arrays: Sequence[str],
        input_shapes: Mapping[str, Sequence[int | None] | None] | None = None,
    ) -> Converter:
        """Makes a converter for TensorFlow 1 of a frozen graph; see :mod:`litefuse.compat.v1`."""
        from litefuse.tools.compat.v1 import TFLiteConverter as TFLiteConverter1

        return TFLiteConverter1.from_frozen_graph(graph_def_file, input_arrays, output_arrays, input_shapes)

    @classmethod
    def experimental_from_jax(
        cls, serving_funcs: Sequence[Callable[..., Any]], inputs: Sequence[Sequence[tuple[str, Any]]]
    ) -> TFLiteConverter:
        """Makes a converter of a JAX function.

        Args:
            serving_funcs: The function alone, in a list.
            inputs: For the function, pairs of the name of an input and an array of its shape and dtype.

        Raises:
            SettingError: There is not exactly one function, or it has no pairs.
        """
        jax: Any = sys.modules.get("jax")
        if jax is None or len(serving_funcs) != 1 or len(inputs) != 1:
            raise SettingError(
                "a converter takes one JAX function, and pairs of names and arrays for it",
                hint="Call experimental_from_jax([function], [[('x', array)]]).",
            )
        try:
            pairs = [(str(name), jax.numpy.asarray(array)) for name, array in inputs[0]]
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"the inputs of a JAX function are pairs of names and arrays: {error}",
                hint="Call experimental_from_jax([function], [[('x', array)]]).",
            ) from error
        export: Any = importlib.import_module("jax.export")  # of the package that is loaded already
        function = serving_funcs[0]
        names = [name for name, _ in pairs]
        call = jax.jit(lambda **named: function(*(named[name] for name in names)))  # pyright: ignore[reportUnknownLambdaType]
        shapes = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in pairs}
        return cls._of(export.export(call)(**shapes))


def _functions(funcs: Sequence[Any]) -> dict[str, Any]:
    """Returns concrete functions by the keys of their signatures."""
    tf: Any = sys.modules.get("tensorflow")
    given: list[Any] = list(funcs) if isinstance(cast("object", funcs), Sequence) else [funcs]
    if tf is None or not given:
        raise SettingError("no concrete function was given", hint="Pass [f.get_concrete_function(...)].")
    for function in given:
        if not isinstance(function, tf.types.experimental.ConcreteFunction):
            raise SettingError(
                f"a {type(function).__name__} is not a concrete function",
                hint="Pass what its get_concrete_function(tf.TensorSpec(...)) returns.",
            )
    if len(given) == 1:
        return {_KEY: given[0]}
    functions: dict[str, Any] = {str(function.graph.name): function for function in given}
    if len(functions) < len(given):
        raise SettingError(
            f"two of the functions have one name: {', '.join(str(function.graph.name) for function in given)}",
            hint="Pass litefuse.convert a mapping from keys to functions.",
        )
    return functions
