"""Reading TensorFlow 2 SavedModels: functions, signatures, variables, assets; without TensorFlow."""

from __future__ import annotations

from litefuse.saved_model.captures import Asset, Capture, Constant, ResourceObject, Variable
from litefuse.saved_model.dtypes import DataType, Shape
from litefuse.saved_model.loader import SavedModel, load
from litefuse.saved_model.op_registry import OpRegistry, op_registry
from litefuse.saved_model.signatures import Signature, TensorSpec
from litefuse.saved_model.tensor_bundle import Storage, TensorBundle
from litefuse.saved_model.tensor_proto import tensor_value

__all__ = [
    "Asset",
    "Capture",
    "Constant",
    "DataType",
    "OpRegistry",
    "ResourceObject",
    "SavedModel",
    "Shape",
    "Signature",
    "Storage",
    "TensorBundle",
    "TensorSpec",
    "Variable",
    "load",
    "op_registry",
    "tensor_value",
]
