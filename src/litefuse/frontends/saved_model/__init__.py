"""Reader of SavedModels, without TensorFlow: functions, signatures, variables, tables and assets."""

from __future__ import annotations

from litefuse.frontends.saved_model.captures import Asset, Capture, Constant, ResourceObject, Table, Variable
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.loader import is_graph_file, load
from litefuse.frontends.saved_model.model import SavedModel
from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.frontends.saved_model.signatures import Signature, TensorSpec
from litefuse.frontends.saved_model.tensor_bundle import TensorBundle
from litefuse.frontends.saved_model.tensor_proto import tensor_value

__all__ = [
    "Asset",
    "Capture",
    "Constant",
    "DataType",
    "ResourceObject",
    "SavedModel",
    "Signature",
    "Table",
    "TensorBundle",
    "TensorSpec",
    "Variable",
    "is_graph_file",
    "load",
    "op_registry",
    "tensor_value",
]
