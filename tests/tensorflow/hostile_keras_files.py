"""Files of Keras's that make Keras create a file, or read one, when they are loaded; made in the TensorFlow process."""

from __future__ import annotations

import base64
import json
import marshal
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Config: TypeAlias = dict[str, Any]
Element: TypeAlias = tuple[Config, list[Any]]
"""A layer's configuration, and how it is called."""


def code_of(canary: Path) -> str:
    """The bytecode, as Keras keeps it, of a lambda that creates a file and returns its argument."""
    function: Any = eval(f"lambda x, *others: (open({str(canary)!r}, 'w').close(), x)[1]")
    return base64.b64encode(marshal.dumps(function.__code__)).decode()


def _model(layer: Config, call: list[Any] | None = None, **around: Any) -> Config:
    """Keras 2's configuration of a model with one layer, called with ``x`` unless ``call`` says otherwise."""
    source: Config = {"name": "x", "batch_input_shape": [None, 2], "dtype": "float32", "sparse": False, "ragged": False}
    layers: list[Config] = [
        {"class_name": "InputLayer", "config": source, "name": "x", "inbound_nodes": [], **around},
        {**layer, "name": "attack", "inbound_nodes": [call or ["x", 0, 0, {}]]},
        {
            "class_name": "Activation",
            "config": {"name": "last", "activation": "linear"},
            "name": "last",
            "inbound_nodes": [[["x", 0, 0, {}]]],
            **around,
        },
    ]
    if around:
        layers[1] = {**around, **layers[1]}
    config: Config = {
        "name": "model",
        "layers": layers,
        "input_layers": [["x", 0, 0]],
        "output_layers": [["last", 0, 0]],
    }
    return {"class_name": "Functional", "config": config}


def lambda_layer(canary: Path, key: str) -> Config:
    """A layer of Keras 2 with bytecode under one of its keys, and nothing under the others."""
    relu: Config = {
        "class_name": "function",
        "config": "relu",
        "module": "keras.activations",
        "registered_name": "relu",
    }
    config: Config = {
        "name": "attack",
        "function": relu,
        "function_type": "function",
        "output_shape": None,
        "output_shape_type": "raw",
        "mask": None,
        "mask_type": "raw",
        "arguments": {},
    }
    config |= {key: [code_of(canary), None, None], f"{key}_type": "lambda"}
    return {"class_name": "Lambda", "config": config}


def masked(canary: Path) -> Config:
    """A layer of Keras 2 with bytecode under two keys, of which that of the mask creates the file."""
    config = lambda_layer(canary, "mask")["config"]
    harmless: Any = eval("lambda x: x")
    code = base64.b64encode(marshal.dumps(harmless.__code__)).decode()
    return {"class_name": "Lambda", "config": config | {"function": [code, None, None], "function_type": "lambda"}}


def new_form(layer: Config, call: list[Any] | None = None) -> Config:
    """The model of a layer as Keras 2 writes it to its archives."""
    named: Config = {"module": "keras.layers", "registered_name": None}
    model = _model({**named, **layer}, call, **named)
    return {**model, "module": "keras.src.engine.functional", "registered_name": "Functional"}


def asked(canary: Path) -> Config:
    """A model in one of Keras 2's archives with a layer with bytecode for its output shape."""
    named: Config = {"module": "keras.layers", "registered_name": None}
    layer: Config = {**named, **lambda_layer(canary, "output_shape")}
    return _sequential([layer], **named) | {"module": "keras", "registered_name": None}


def nested(canary: Path, how: str) -> Config:
    """The same in a layer, or a model, around it."""
    inner = lambda_layer(canary, "function")
    if how == "TimeDistributed":
        sequence: Config = {"class_name": "Reshape", "config": {"name": "deeper", "target_shape": [2, 1]}}
        around: Config = {"class_name": "TimeDistributed", "config": {"name": "around", "layer": inner}}
        return _sequential([sequence, around])
    return _sequential([_sequential([inner])])


def _sequential(layers: list[Config], **named: Any) -> Config:
    source: Config = {"batch_input_shape": [None, 2], "dtype": "float32", "name": "i"}
    first: Config = {"class_name": "InputLayer", "config": source, **named}
    return {"class_name": "Sequential", "config": {"name": "sequential", "layers": [first, *layers]}}


def called_op(canary: Path) -> Config:
    """A layer of Keras 2 that stands for a function of TensorFlow's: here one that writes a file."""
    layer: Config = {"class_name": "TFOpLambda", "config": {"name": "attack", "function": "io.write_file"}}
    return _model(layer, ["_CONSTANT_VALUE", -1, str(canary), {"contents": "written"}])


def lambda_of_3(canary: Path, key: str) -> Config:
    """A model of Keras 3 with a Lambda layer with bytecode under one of its keys."""
    code: Config = {"class_name": "__lambda__", "config": {"code": code_of(canary), "defaults": None, "closure": None}}
    relu: Config = {
        "class_name": "function",
        "config": "relu",
        "module": "keras.activations",
        "registered_name": "relu",
    }
    config: Config = {"name": "attack", "function": relu, "arguments": {}, key: code}
    if key != "function":
        config["function"] = relu
    layer: Config = {"module": "keras.layers", "class_name": "Lambda", "config": config}
    source: Config = {
        "module": "keras.layers",
        "class_name": "InputLayer",
        "config": {"batch_shape": [None, 2], "dtype": "float32", "name": "x"},
    }
    return {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "sequential", "layers": [source, layer]},
        "build_config": {"input_shape": [None, 2]},
    }


def importing(canary: Path) -> Config:
    """A model in Keras 2's archive whose Lambda layer has a function of any module that can be imported."""
    function: Config = {"class_name": "function", "config": "mknod", "module": "os", "registered_name": "mknod"}
    config: Config = {"name": "attack", "function": function, "function_type": "function", "arguments": {}}
    config |= {"output_shape": None, "output_shape_type": "raw", "mask": None, "mask_type": "raw"}
    layer: Config = {"module": "keras.layers", "class_name": "Lambda", "config": config, "registered_name": None}
    return new_form(layer, ["_CONSTANT_VALUE", -1, str(canary), {}])


CREATING: dict[str, tuple[str, str, Callable[[Path], Config]]] = {
    "the function of a layer": ("tf_keras", ".h5", lambda canary: _model(lambda_layer(canary, "function"))),
    "the mask of a layer": ("tf_keras", ".keras", lambda canary: new_form(lambda_layer(canary, "mask"))),
    "the mask of a layer, in HDF5": ("tf_keras", ".h5", lambda canary: _model(masked(canary))),
    "the output shape of a layer": ("tf_keras", ".keras", asked),
    "a layer in a wrapper": ("tf_keras", ".h5", lambda canary: nested(canary, "TimeDistributed")),
    "a layer in a model in a model": ("tf_keras", ".h5", lambda canary: nested(canary, "Sequential")),
    "an op that is called": ("tf_keras", ".h5", called_op),
    "an import": ("tf_keras", ".keras", importing),
    "the function of a layer of Keras 3": ("keras", ".keras", lambda canary: lambda_of_3(canary, "function")),
    "the output shape of a layer of Keras 3": ("keras", ".keras", lambda canary: lambda_of_3(canary, "output_shape")),
    "the function of a layer of Keras 3, in HDF5": ("keras", ".h5", lambda canary: lambda_of_3(canary, "function")),
}
"""By what they do it with: the package whose file it is, its kind, and what makes the configuration."""


def write_archive(path: Path, config: Config, version: str) -> None:
    """Writes a ``.keras`` file of a model without weights."""
    import h5py

    weights = BytesIO()
    h5py.File(weights, "w").close()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.weights.h5", weights.getvalue())
        archive.writestr("metadata.json", json.dumps({"keras_version": version}))
        archive.writestr("config.json", json.dumps(config))


def write_hdf5(path: Path, config: Config, version: str) -> None:
    """Writes an HDF5 file of a model without weights."""
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = version
        file.attrs["backend"] = "tensorflow"
        file.create_group("model_weights").attrs["layer_names"] = np.array([], "S1")


def _embed(file: Any, secret: Path, how: str) -> None:
    """Makes the weights of a saved model's layer those of another file."""
    import h5py

    names = ("kernel:0", "kernel", "0")
    group, name = next((group, name) for group in _groups(file) for name in names if name in group)
    shape = group[name].shape
    del group[name]
    if how == "link":
        group[name] = h5py.ExternalLink(secret, "/secret")
    elif how == "array":
        group.create_dataset(name, shape, "f4", external=[(str(secret.with_suffix(".bin")), 0, h5py.h5f.UNLIMITED)])
    elif how == "pieces":
        layout = h5py.VirtualLayout(shape, "f4")
        layout[...] = h5py.VirtualSource(str(secret), "secret", shape)
        group.create_virtual_dataset(name, layout)
    elif how == "soft link":
        group[name] = h5py.SoftLink("/elsewhere")
        file["elsewhere"] = h5py.ExternalLink(secret, "/secret")


def _groups(file: Any) -> list[Any]:
    import h5py

    found: list[Any] = []

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Group):
            found.append(item)

    file.visititems(visit)
    return found


READING = ("link", "array", "pieces", "soft link")


def write_reading(model: Any, path: Path, secret: Path, how: str) -> None:
    """Saves a model with a kernel whose values are in another file."""
    import h5py

    values = np.full((2, 3), 42, np.float32)
    with h5py.File(secret, "w") as file:
        file["secret"] = values
    secret.with_suffix(".bin").write_bytes(values.tobytes())
    model.save(path)
    if path.suffix == ".h5":
        with h5py.File(path, "r+") as file:
            _embed(file, secret, how)
        return
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    weights = path.with_suffix(".weights")
    weights.write_bytes(members["model.weights.h5"])
    with h5py.File(weights, "r+") as file:
        _embed(file, secret, how)
    members["model.weights.h5"] = weights.read_bytes()
    weights.unlink()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
