"""Index of the pack's kernels: the classes of ``litefuse.kernels.pack`` that are decorated with ``pack_kernel``.

It is built from their source, without importing their modules. The kernels in C++ are in a library. Of some other
custom ops, LiteRT's interpreter or XNNPACK has the kernel.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.support.plug_ins.own_classes import OwnClass, own_classes

READERS_OF_OPTIONS = frozenset({"AudioSpectrogram", "Mfcc", "NumericVerify", "TFLite_Detection_PostProcess"})
"""Those whose kernels read their options as a flexbuffer without a check."""

RESOLVED_OPS = READERS_OF_OPTIONS
"""The ops that the interpreter has kernels of its own for."""

XNNPACK_OPS = frozenset(
    {
        *("Convolution2DTransposeBias", "MaxPoolingWithArgmax2D", "MaxUnpooling2D"),  # MediaPipe's
        *("moe", "odml.scaled_dot_product_attention"),
    }
)
"""The ops that XNNPACK runs, where it takes their forms."""


def runs_in_litert(op: str, dtypes: Iterable[str]) -> bool:
    """Whether LiteRT's interpreter runs a custom op without another's kernel.

    Args:
        op: The op's name.
        dtypes: The dtypes of the operands and results of its nodes: XNNPACK takes float32 only.
    """
    return op in RESOLVED_OPS or (op in XNNPACK_OPS and {*dtypes} == {"float32"})


def ops_that_run_in_litert(content: Any) -> frozenset[str]:
    """Returns the custom ops of a model that LiteRT's interpreter runs without another's kernel, in all their nodes.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
    """
    from litefuse.litert.runtime.model_reader import Model  # few models have custom ops

    model, runs = Model(content), dict[str, bool]()
    for graph in model.graphs if any(code.custom for code in model.codes) else ():
        for op in graph.ops:
            if op.custom:
                dtypes = [graph.dtype_name(index) for index in (*op.inputs, *op.outputs) if index >= 0]
                runs[op.name] = runs_in_litert(op.name, dtypes) and runs.get(op.name, True)
    return frozenset(name for name, is_run in runs.items() if is_run)


def by_kernel(custom_ops: Sequence[str], path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns those of a file's custom ops that need kernels, and those that LiteRT runs by itself."""
    if not custom_ops:
        return (), ()
    with content_of(path) as content:
        own = ops_that_run_in_litert(content)
    return tuple(name for name in custom_ops if name not in own), tuple(name for name in custom_ops if name in own)


class _OfOneOp(Protocol):
    op_name: ClassVar[str]


_Kernel = TypeVar("_Kernel", bound=_OfOneOp)
_NAMES = {"darwin": "liblitefuse_kernels.dylib", "win32": "litefuse_kernels.dll"}


def pack_kernel(
    op: str,
    *,
    native: bool | Literal["partly"] = False,  # noqa: ARG001  read from the source
    limited: bool = False,  # noqa: ARG001
) -> Callable[[type[_Kernel]], type[_Kernel]]:
    """Class decorator that makes a class the pack's kernel of an op. Its arguments are literals.

    Args:
        op: The op's name.
        native: Whether the pack also has the kernel in C++; ``partly`` if that does not support all attributes, in
            which case the class is a ``PartlyNativeKernel``.
        limited: Whether the kernel does not support all forms of the op; then the class is a ``LimitedKernel``.
    """

    def named(kernel: type[_Kernel]) -> type[_Kernel]:
        kernel.op_name = op
        return kernel

    return named


@functools.cache
def kernel_classes() -> Mapping[str, OwnClass]:
    """Returns the decorated classes by the names of their ops."""
    kernels = own_classes("litefuse.kernels.pack", "pack_kernel")
    return {kernel.arguments[0]: kernel for kernel in sorted(kernels, key=lambda kernel: kernel.name)}


@functools.cache
def native_library() -> Path | None:
    """The shared library with the pack's native kernels; None where litefuse was installed without a C++ compiler.

    It has no dependencies, and can be given to ``ai_edge_litert.interpreter.load_delegate`` as well. The environment
    variable ``LITEFUSE_KERNELS_LIBRARY`` names another build of it; empty, it stands for none.
    """
    chosen = os.environ.get("LITEFUSE_KERNELS_LIBRARY")
    if chosen is not None:
        return Path(chosen) if chosen else None
    # It lies beside the kernels in Python, none of which is imported to look; an editable install has it in another
    # folder than the sources.
    spec = importlib.util.find_spec("litefuse.kernels")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    name = _NAMES.get(sys.platform, "liblitefuse_kernels.so")
    paths = (Path(folder, name) for folder in folders)
    return next((path for path in paths if path.is_file()), None)
