"""Sends kernels to other processes: the one that converts runs them to check fused ops, others run models."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from litefuse.errors import KernelError
from litefuse.litert.runtime.custom_op import CustomOp, registered_kernels, replace_registered
from litefuse.support.options.names import refuse_one_string


def kernels_by_value(kernels: Iterable[type[CustomOp] | str | os.PathLike[str]]) -> tuple[bytes | str, ...]:
    """Prepares kernels that a user gave as ``custom_ops`` for the process of a model.

    Args:
        kernels: Classes, and paths of libraries.

    Returns:
        The classes pickled, and the paths.

    Raises:
        LitefuseError: It is one string, or a class cannot be sent.
    """
    refuse_one_string(kernels, "custom_ops")
    return tuple(
        os.fsdecode(kernel) if isinstance(kernel, str | os.PathLike) else kernel_by_value(kernel) for kernel in kernels
    )


def registered_by_value() -> dict[str, bytes]:
    """Pickles the kernels that the running program registered, for a process that runs a model with them.

    A kernel that cannot be sent is replaced by one that says so when it is used.
    """
    pickled: dict[str, bytes] = {}
    for name, kernel in registered_kernels().items():
        try:
            pickled[name] = kernel_by_value(kernel)
        except KernelError as error:
            pickled[name] = pickle.dumps(error)
    return pickled


def kernel_by_value(kernel: type[CustomOp]) -> bytes:
    """Pickles a kernel's class with its code.

    Raises:
        KernelError: It cannot be pickled: it refers to something of one process, such as a lock or an open file.
    """
    from litefuse.support.plug_ins.by_value import pickle_by_value

    try:
        with _by_value(kernel):
            return pickle_by_value(kernel)
    except Exception as error:  # whatever its state raises
        raise KernelError(
            f"the kernel cannot be sent to the process that runs the model: {type(error).__name__}: {error}",
            where=getattr(kernel, "__qualname__", repr(kernel)),
            hint="Make what it holds in its methods, or name its file: kernel_modules=[FILE.py].",
        ) from error


def unpickle_kernels(pickled: Mapping[str, bytes]) -> None:
    """Registers the kernels of another process, and forgets those of an earlier one."""
    kernels: dict[str, type[CustomOp]] = {}
    for name, data in pickled.items():
        try:
            kernel: type[CustomOp] | KernelError = pickle.loads(data)
            kernels[name] = _refusing(name, kernel) if isinstance(kernel, KernelError) else kernel
        except Exception:  # noqa: BLE001  as above
            continue
    replace_registered(kernels)


def _refusing(name: str, reason: KernelError) -> type[CustomOp]:
    """Returns a kernel that raises the reason why there is none."""

    class Refusing(CustomOp):
        def prepare(self, *_: Any, **__: Any) -> NoReturn:
            raise reason

        def invoke(self, *_: Any, **__: Any) -> NoReturn:
            raise reason

    Refusing.op_name = name
    return Refusing


@contextmanager
def _by_value(kernel: type[CustomOp]) -> Generator[None]:
    """Has a class pickled with its code: its module may not be importable there, or may import TensorFlow."""
    import cloudpickle

    module = sys.modules.get(kernel.__module__)
    if module is None or kernel.__module__ == "__main__":  # pickled by value anyway
        yield
        return
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)
