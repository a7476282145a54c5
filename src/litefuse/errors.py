"""Exceptions that litefuse raises.

The tree:

    LitefuseError
    ├── UnknownArgumentError        a function has no such argument; also a TypeError
    ├── SettingError                an attribute of a converter of litefuse.compat; also a ValueError
    ├── SavedModelError             the folder is not a SavedModel that can be read
    │   ├── CheckpointError         variables: index, shards, checksums
    │   └── SignatureError          no such signature, tag set, input or output
    ├── ConversionError             the model was read, but cannot be converted
    │   ├── GraphError              a function, node, type or attribute cannot be imported
    │   ├── UnsupportedOpsError     ops that LiteRT lacks are left (all of them are listed)
    │   ├── FusionError             a fusion was registered or written wrongly
    │   ├── NotFusedError           a composite that was required to fuse did not
    │   ├── MetadataError           metadata, or new names of inputs and outputs, do not fit the format or the model
    │   ├── FileCheckError          the file that was written does not run
    │   ├── NotAcceleratedError     a target that was required to take the whole file does not
    │   ├── QuantizationError       the difference from quantization exceeds the limit
    │   ├── LimitError              it exceeds a limit on ops, bytes of constants, time or memory
    │   └── LoweringError           the lowering engine reported an error
    ├── MissingEngineError          the lowering engine is not installed, or has no package for this platform
    ├── EngineCrashError            the process that ran the conversion died
    ├── KernelError                 a custom op's kernel was registered or answered wrongly
    └── InterpreterError            a model cannot be loaded or run
        ├── MissingKernelError      it has custom ops without kernels
        └── ModelCrashError         the process that ran the model died

Every message says what is wrong and where; ``hint`` says what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = [
    "CheckpointError",
    "ConversionError",
    "EngineCrashError",
    "FileCheckError",
    "FusionError",
    "GraphError",
    "InterpreterError",
    "KernelError",
    "LimitError",
    "LitefuseError",
    "LoweringError",
    "MetadataError",
    "MissingEngineError",
    "MissingKernelError",
    "ModelCrashError",
    "NotAcceleratedError",
    "NotFusedError",
    "QuantizationError",
    "SavedModelError",
    "SettingError",
    "SignatureError",
    "UnknownArgumentError",
    "UnsupportedOp",
    "UnsupportedOpsError",
]


class LitefuseError(Exception):
    """Base of every error that litefuse raises on purpose.

    Attributes:
        message: What is wrong.
        where: The file, signature, function or node that it is about; may be empty.
        hint: What to do next; may be empty.
        trace: The traceback in the process that raised it, as text; empty if that is this one.
    """

    trace = ""

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        # Only ``message`` is positional, so that an instance can be pickled and sent from the conversion process.
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n{self.hint}" if self.hint else text


class UnknownArgumentError(LitefuseError, TypeError):
    """A function has no argument of such a name.

    Attributes:
        arguments: The names.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "", arguments: Sequence[str] = ()) -> None:
        super().__init__(message, where=where, hint=hint)
        self.arguments = tuple(arguments)


class SettingError(LitefuseError, ValueError):
    """A converter of :mod:`litefuse.compat` has an attribute, or a combination of them, that cannot be had."""


class SavedModelError(LitefuseError):
    """The folder is not a SavedModel that litefuse can read."""


class CheckpointError(SavedModelError):
    """A variable's value cannot be read from the checkpoint."""


class SignatureError(SavedModelError):
    """The SavedModel has no such signature, tag set, input or output."""


class ConversionError(LitefuseError):
    """The SavedModel was read, but cannot become a LiteRT model."""


class GraphError(ConversionError):
    """A function, node, type or attribute cannot be imported."""


class UnsupportedOp(NamedTuple):
    """An op in the model that LiteRT lacks.

    Attributes:
        op: The TensorFlow op's name, such as ``ExtractImagePatches``.
        node: The node's name, with the enclosing functions.
        function: The function (signature) that holds it after inlining.
        operands: Its operands' types, such as ``float32[1,8,8,3]``.
        results: Its results' types, in the same form.
        reason: Why it could not be rewritten into ops that LiteRT has; empty without a rewriting of it.
    """

    op: str
    node: str
    function: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    reason: str = ""

    def __str__(self) -> str:
        text = f"{self.op}({', '.join(self.operands)}) -> ({', '.join(self.results)})  at "
        text += f"{self.node} in {self.function}" if self.node else self.function
        return f"{text}\n    not rewritten: {self.reason}" if self.reason else text


class UnsupportedOpsError(ConversionError):
    """Ops that LiteRT lacks are left in the model; ``ops`` lists every one."""

    def __init__(self, message: str, *, where: str = "", hint: str = "", ops: Sequence[UnsupportedOp] = ()) -> None:
        super().__init__(message, where=where, hint=hint)
        self.ops = tuple(ops)


class FusionError(ConversionError):
    """A fusion was registered or written wrongly."""


class NotFusedError(ConversionError):
    """A composite that was required to be fused was not."""


class MetadataError(ConversionError):
    """Metadata or other names of inputs and outputs do not fit the format, or the model."""


class FileCheckError(ConversionError):
    """The model was written, but does not run in LiteRT: no file is kept."""


class NotAcceleratedError(ConversionError):
    """A target that was required to take the whole file does not, or its software could not be asked.

    Attributes:
        refused: Each target, with an op that it refuses and why.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "", refused: Sequence[str] = ()) -> None:
        super().__init__(message, where=where, hint=hint)
        self.refused = tuple(refused)


class QuantizationError(ConversionError):
    """The difference in the outputs from quantization exceeds the limit, or an op is not integer that had to be.

    Attributes:
        error: The largest difference, relative to the largest element of each output; None if it was not measured.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "", error: float | None = None) -> None:
        super().__init__(message, where=where, hint=hint)
        self.error = error


class LimitError(ConversionError):
    """The conversion exceeds a limit.

    Attributes:
        limit: The argument of ``convert()`` that sets the limit: ``max_ops``, ``max_constant_bytes``, ``timeout`` or
            ``memory``.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "", limit: str = "") -> None:
        super().__init__(message, where=where, hint=hint)
        self.limit = limit


class LoweringError(ConversionError):
    """The lowering engine rejected the module; the message contains its diagnostics."""


class MissingEngineError(LitefuseError):
    """The lowering engine, which converts models, is not installed or cannot be loaded.

    There are platforms that it has no package for. What needs no conversion works without it.
    """


class EngineCrashError(LitefuseError):
    """The process that ran the conversion died.

    Attributes:
        step: The step that it was in, such as ``lower``.
        death: How it ended: a signal's name or an exit code.
        module_path: The path where the module that it worked on was saved for a bug report, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        where: str = "",
        hint: str = "",
        step: str = "",
        death: str = "",
        module_path: str | None = None,
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.step = step
        self.death = death
        self.module_path = module_path


class KernelError(LitefuseError):
    """A custom op's kernel was registered wrongly, or answered with wrong shapes or dtypes."""


class InterpreterError(LitefuseError):
    """A model cannot be loaded or run."""


class MissingKernelError(InterpreterError):
    """A model has custom ops without kernels.

    Attributes:
        ops: Their names.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "", ops: Sequence[str] = ()) -> None:
        super().__init__(message, where=where, hint=hint)
        self.ops = tuple(ops)


class ModelCrashError(InterpreterError):
    """The process that ran a model died because of the runtime or a kernel.

    Attributes:
        step: The step that it was in, such as ``invoke``.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "", step: str = "") -> None:
        super().__init__(message, where=where, hint=hint)
        self.step = step
