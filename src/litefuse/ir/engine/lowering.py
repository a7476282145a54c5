"""The C++ pipeline from ``tf`` to ``tfl``, and the flatbuffer exporter."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from litefuse.errors import LoweringError
from litefuse.ir.engine.constant_sizes import check_folding
from litefuse.ir.engine.hidden_casts import hidden_casts
from litefuse.ir.engine.hidden_constants import hidden_constants
from litefuse.ir.mlir import COUNTS, PassManager, converter_api_ext, func, ir


def run_mlir_passes(module: ir.Module, *passes: str) -> None:
    """Runs MLIR's own passes, such as ``symbol-dce``, on the module.

    Raises:
        LoweringError: A pass refused the module.
    """
    COUNTS["engine_calls"] += 1
    try:
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    except ir.MLIRError as error:
        raise _lowering_error("the engine refused the model", error) from error


def lower(module: ir.Module) -> None:
    """Legalizes every ``tf`` op that LiteRT has an op for; the others remain.

    Exported functions must have their signatures set.

    Raises:
        LoweringError: The pipeline refused the module; the message has its diagnostics.
        LimitError: The pipeline would fold a constant that is above the limit.
    """
    check_folding(module)
    COUNTS["engine_calls"] += 1
    try:
        with hidden_constants(module), hidden_casts(module):
            converter_api_ext.run_convert_to_tfl_passes(module, PassManager(), _config())
    except (ValueError, ir.MLIRError) as error:
        raise _lowering_error("the engine refused the model", error) from error
    if _has_calls(module):
        run_mlir_passes(module, "inline{default-pipeline=}", "symbol-dce")


def _config() -> Any:
    """Returns the pipeline's default options, except for the fault ``infinite-constants``."""
    config = converter_api_ext.ConvertToTFLConfig()
    config.canonicalizing_inf_as_min_max_float = False
    return config


def _has_calls(module: ir.Module) -> bool:
    """Whether calls remain, because the engine folded the condition of an ``If``: the fault ``decided-branch``."""
    has_one = False

    def look(op: ir.Operation) -> ir.WalkResult:
        nonlocal has_one
        has_one = op.name in {"tf.PartitionedCall", "tf.StatefulPartitionedCall"}
        return ir.WalkResult.INTERRUPT if has_one else ir.WalkResult.ADVANCE

    if len(module.body.operations) > 1:
        module.operation.walk(look)
    return has_one


def set_signature(function: func.FuncOp, key: str, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Makes a function a signature of the model, with names for its arguments and results.

    Raises:
        LoweringError: The number of names differs from that of the arguments or results.
    """
    kind = function.type
    if len(kind.inputs) != len(inputs) or len(kind.results) != len(outputs):
        raise LoweringError(
            f"{len(kind.inputs)} arguments and {len(kind.results)} results, "
            f"but names for {len(inputs)} and {len(outputs)}",
            where=f"signature {key}",
        )
    converter_api_ext.set_signature(function, key, list(inputs), list(outputs))


def write_flatbuffer(module: ir.Module, path: Path) -> None:
    """Writes a module of ``tfl`` ops as a LiteRT model.

    Raises:
        LoweringError: The exporter refused the module.
    """
    try:
        # As UTF-8, whatever the locale's encoding of paths.
        name = os.fsencode(path).decode()
    except UnicodeDecodeError:  # the exporter does not accept such a path
        path.write_bytes(flatbuffer(module))
        return
    _export(converter_api_ext.export_flatbuffer_to_file, module.operation, name)
    if _has_composites(module):
        from litefuse.ir.engine.composite_attributes import type_vectors  # few models have composites

        with path.open("r+b") as file:
            with mmap.mmap(file.fileno(), 0) as mapped:
                appended = type_vectors(mapped)
            file.seek(0, os.SEEK_END)
            file.write(appended)


def flatbuffer(module: ir.Module) -> bytes:
    """Returns a module of ``tfl`` ops as a LiteRT model in memory.

    Raises:
        LoweringError: The exporter refused the module.
    """
    exported = _export(converter_api_ext.export_flatbuffer_to_bytes, module.operation)
    if not _has_composites(module):
        return exported
    from litefuse.ir.engine.composite_attributes import type_vectors  # as above

    data = bytearray(exported)
    data += type_vectors(data)
    return bytes(data)


def _has_composites(module: ir.Module) -> bool:
    """Whether a module that is ready for export has a composite."""
    has_one = False

    def look(op: ir.Operation) -> ir.WalkResult:
        nonlocal has_one
        has_one = op.name == "vhlo.composite_v1"
        return ir.WalkResult.INTERRUPT if has_one else ir.WalkResult.ADVANCE

    if len(module.body.operations) > 1:  # a composite's body is a function of its own
        module.operation.walk(look)
    return has_one


def _export(exporter: Callable[..., Any], *arguments: Any) -> Any:
    COUNTS["engine_calls"] += 1
    try:
        return exporter(*arguments)
    except (ValueError, ir.MLIRError, RuntimeError, IndexError) as error:
        raise _lowering_error("the model cannot be written", error) from error


# A diagnostic is `<unknown>:0: error: loc("node"): message`, or with loc(callsite("node" at "caller" at ...)).
_DIAGNOSTIC = re.compile(r'error: loc\((?:callsite\()?"(?P<node>(?:[^"\\]|\\.)*)".*?\)\)?: (?P<message>.*)')


def _lowering_error(what: str, error: Exception) -> LoweringError:
    """Returns an error with the first of the engine's diagnostics that names a node, or with all if none does."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    diagnostics = [match for match in map(_DIAGNOSTIC.search, lines) if match is not None]
    if diagnostics:
        node = diagnostics[0]["node"]
        return LoweringError(f"{what}: {diagnostics[0]['message']}", where=f"node {node}")
    return LoweringError(f"{what}: " + ("\n".join(lines) or f"{type(error).__name__} without a message"))
