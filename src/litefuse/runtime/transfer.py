"""Sending registered kernels to the process that converts, which runs them to check fused ops."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from litefuse.runtime.custom_op import CustomOp, registered_kernels, replace_registered

__all__ = ["pickle_kernels", "unpickle_kernels"]


def pickle_kernels() -> dict[str, bytes]:
    """The kernels that the running program registered, each by itself.

    One that cannot be sent is left out: what needs it is then not checked, and the report says so.
    """
    registered = registered_kernels()
    if not registered:
        return {}
    from litefuse.by_value import pickle_by_value

    pickled: dict[str, bytes] = {}
    for name, kernel in registered.items():
        try:
            with _by_value(kernel):
                pickled[name] = pickle_by_value(kernel)
        except Exception:  # noqa: BLE001  whatever its state raises
            continue
    return pickled


def unpickle_kernels(pickled: Mapping[str, bytes]) -> None:
    """Takes over the registered kernels of another process, and forgets those of an earlier one."""
    kernels: dict[str, type[CustomOp]] = {}
    for name, data in pickled.items():
        try:
            kernels[name] = pickle.loads(data)
        except Exception:  # noqa: BLE001  as above
            continue
    replace_registered(kernels)


@contextmanager
def _by_value(kernel: type[CustomOp]) -> Generator[None]:
    """Pickles a class with its code: its module may not be importable there, or may import TensorFlow."""
    import cloudpickle

    module = sys.modules.get(kernel.__module__)
    if module is None or kernel.__module__ == "__main__":  # which it does anyway
        yield
        return
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)
