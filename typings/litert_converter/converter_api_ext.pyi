from collections.abc import Sequence
from typing import Any

import numpy as np
from litert_converter.mlir import ir
from litert_converter.mlir.passmanager import PassManager
from numpy.typing import NDArray

class ConvertToTFLConfig:
    canonicalizing_inf_as_min_max_float: bool
    enable_x64: bool
    model_origin_framework: Any
    unsafe_fuse_dynamic_shaped_broadcast: bool

def prepare_mlir_context(context: ir.Context) -> None: ...
def run_convert_to_tfl_passes(module: ir.Module, pass_manager: PassManager, config: ConvertToTFLConfig) -> None: ...
def set_signature(
    op: ir._OperationBase, signature_name: str, input_names: Sequence[str], output_names: Sequence[str]
) -> None: ...
def export_flatbuffer_to_bytes(module: ir._OperationBase) -> bytes: ...
def export_flatbuffer_to_file(module: ir._OperationBase, export_path: str) -> None: ...
def dense_resource_elements_attr_to_numpy(attr: ir.Attribute) -> NDArray[np.int8]: ...
