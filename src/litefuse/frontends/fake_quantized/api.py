"""``litefuse.quantization_aware``."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_code import LAYERS
from litefuse.frontends.keras_model import check_keras_model, describe_model
from litefuse.support.options.names import listed_names
from litefuse.support.options.quantization import check_pattern

if "keras" in sys.modules:  # files of such models need the classes, which Keras looks up by their names
    importlib.import_module(LAYERS)


def quantization_aware(model: Any, *, keep_float: Iterable[str] = ()) -> Any:
    """Makes a model that trains for integers: fake quantization stands where litefuse's integer form rounds.

    ``fit`` trains the model and the ranges of its activations, which are moving averages of what the batches reach;
    weights have a range for each output channel. ``litefuse.convert(result, quantize="qat")`` then gives a file of int8
    ops with the outputs of the trained model. Before training, activations are not rounded.

    The result is a functional model of the same inputs and outputs. It shares the layers and weights of the model, so
    training changes both; clone the model first to keep it as it is. It is not compiled, and has none of the model's
    own ``train_step``.

    States have a range as well: those of recurrent layers, in all steps of time, and variables that layers assign.
    Layers that compute otherwise in training, other than batch normalization and dropout, are computed in floats
    between rounded inputs and outputs; a warning names them.

    Args:
        model: A built model of Keras 3 on TensorFlow or JAX in float32: functional, Sequential or subclassed.
        keep_float: Regular expressions of the names of calls that stay in floats, with their weights. A name has those
            of the layers and the kind of the operation: ``block/conv/Conv``.

    Returns:
        A ``keras.Model``. litefuse reads its files; Keras does where this function has been imported after Keras.

    Raises:
        LitefuseError: Keras 3 is not installed, the model is none of Keras 3, has not been built or computes in other
            dtypes, its ``call`` cannot be traced, or a regular expression matches nothing.
    """
    try:
        layers: Any = importlib.import_module(LAYERS)
    except ImportError as error:
        raise LitefuseError(
            f"training for integers requires Keras 3: {error}", hint='pip install "litefuse[keras]"'
        ) from error
    keras = layers.keras
    if not isinstance(model, keras.Model):
        raise LitefuseError(f"a {type(model).__name__} is not a model of Keras 3", hint="Pass a keras.Model.")
    where = describe_model(keras, model)
    check_keras_model(keras, model, where)
    dtypes = {str(layer.compute_dtype) for layer in model.layers} - {"float32"}
    if dtypes:
        raise LitefuseError(f"the model computes in {', '.join(dtypes)}, not in float32", where=where)
    patterns = listed_names(keep_float, "keep_float") or ()
    for pattern in patterns:
        check_pattern(pattern, "keep_float")
    layer = layers.QuantizationAware(model, patterns)
    unused = [pattern for pattern, names in layer.placement.kept.items() if not names]
    if unused:
        raise LitefuseError(f"keep_float matches no call: {', '.join(unused)}", where=where)
    if layer.placement.floats:
        warnings.warn(f"computed in floats, without quantization: {', '.join(layer.placement.floats)}", stacklevel=2)
    return keras.Model(layer.symbolic_inputs, layer(layer.symbolic_inputs), name=f"{model.name}_quantization_aware")
