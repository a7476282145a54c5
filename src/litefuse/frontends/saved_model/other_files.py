"""Files and folders that are given for a SavedModel, and what to do with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

from litefuse.errors import SavedModelError
from litefuse.support.files.readable import check_there, is_there

_EXPORT_HINT = "Load it with keras.models.load_model and write a SavedModel with model.export(folder)."
_SAVE_HINT = "Restore it in the program that builds the model, and save that: tf.saved_model.save(model, folder)."
_CONVERTED = "It converts the folder of a SavedModel, a .keras or .h5 file, or a frozen graph (.pb, .pbtxt)."
_PYTORCH = (
    "this is a PyTorch file; litefuse converts models of TensorFlow, Keras and JAX",
    "The package litert-torch converts PyTorch modules; litefuse quantizes, checks and measures what it writes.",
)
_PACKED = ("this is an archive, not a SavedModel", "Unpack it, and give the folder with saved_model.pb.")
_OTHER_FILES = {
    **dict.fromkeys((".pt", ".pth", ".pt2", ".torchscript", ".safetensors"), _PYTORCH),
    **dict.fromkeys((".gz", ".tar", ".tgz", ".zip"), _PACKED),
    ".onnx": (
        "this is an ONNX model; litefuse converts models of TensorFlow, Keras and JAX",
        "Convert what it was exported from; or make it a SavedModel, as the package onnx2tf does, and convert that.",
    ),
    ".index": ("this is the index of a checkpoint, which holds variables, but no graph", _SAVE_HINT),
    ".meta": (
        "this is a MetaGraph, which has a graph, but not the values of its variables",
        "Import it in TensorFlow, restore its checkpoint, and save that: tf.compat.v1.saved_model.simple_save.",
    ),
    ".h5": ("this is a Keras HDF5 file, not a SavedModel", _EXPORT_HINT),
    ".hdf5": ("this is a Keras HDF5 file, not a SavedModel", _EXPORT_HINT),
    ".keras": ("this is a Keras file, not a SavedModel", _EXPORT_HINT),
    ".tflite": (
        "this is a LiteRT model already, not a SavedModel",
        "litefuse quantize (in Python, litefuse.quantize) quantizes it. To convert again, give what it was made from.",
    ),
}
_OTHER_FORMS = {
    "saved_model.pbtxt": (
        "the SavedModel is in text form (saved_model.pbtxt), which is not read",
        "Load it in TensorFlow and save it again: tf.saved_model.save writes the binary form.",
    ),
    "saved_model.cpb": (
        "the SavedModel is in chunks (saved_model.cpb), which are not read",
        "Save it again without experimental_image_format.",
    ),
    "keras_metadata.pb": ("the folder has Keras metadata, but no saved_model.pb", "Save the model again."),
}


def refuse_other_file(path: Path) -> None:
    """Refuses a file that is another kind of model, or a part of one, by its name.

    Raises:
        SavedModelError: It is.
    """
    message, hint = _OTHER_FILES.get(path.suffix.lower(), ("", ""))
    if path.name == "saved_model.pb":
        message, hint = "this is a file of a SavedModel", f"Give the folder that holds it: {path.parent}"
    if message and path.is_file():
        raise SavedModelError(message, where=str(path), hint=hint)


def refuse_other_path(path: Path) -> NoReturn:
    """Refuses a path that is not the folder of a SavedModel.

    Raises:
        SavedModelError: In any case; it says what else may be there.
    """
    where = str(path)
    if not is_there(path) and is_there(path.with_name(f"{path.name}.index")):
        raise SavedModelError("this is a checkpoint: it holds variables, but no graph", where=where, hint=_SAVE_HINT)
    folder = check_there(path, SavedModelError).resolve()
    if not folder.is_dir():
        refuse_other_file(path)
        raise SavedModelError("litefuse does not convert files of this kind", where=where, hint=_CONVERTED)
    for name, (message, hint) in _OTHER_FORMS.items():
        if os.path.lexists(folder / name):
            raise SavedModelError(message, where=where, hint=hint)
    if os.path.lexists(folder / "checkpoint") or any(folder.glob("*.index")):
        message = "the folder holds a checkpoint, which has variables, but no saved_model.pb"
        raise SavedModelError(message, where=where, hint=_SAVE_HINT)
    raise SavedModelError("the folder holds no saved_model.pb, so it is not a SavedModel", where=where)
