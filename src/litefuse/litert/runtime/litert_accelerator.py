"""Delegates in LiteRT's ``CompiledModel``, which takes them as accelerators of its environment."""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from typing import Any

from litefuse.litert.runtime import litert_library as litert

__all__ = ["Accelerator"]

_OK, _UNKNOWN = 0, 9
_NAME = b"litefuse"


@litert.GET_NAME
def _name(_accelerator: int | None, name: Any) -> int:
    name[0] = _NAME
    return _OK


@litert.GET_VERSION
def _version(_accelerator: int | None, version: Any) -> int:
    version[0][:] = (0, 1, 0)
    return _OK


@litert.GET_HARDWARE
def _hardware(_accelerator: int | None, hardware: Any) -> int:
    hardware[0] = litert.ACCELERATORS["cpu"]
    return _OK


@litert.DELETE_DELEGATE
def _keep(_delegate: int | None) -> None:
    """Deletes nothing: the delegate belongs to the accelerator's owner."""


class Accelerator:
    """Has an environment offer a delegate the nodes of each model that it compiles, after XNNPACK.

    A delegate sees all that a kernel can need: dtypes, constants, options, composites. The interface that LiteRT calls
    custom op kernels shows neither dtypes nor constants when it asks for shapes, and knows no composites.

    Args:
        environment: The environment, ``LiteRtEnvironment``.
        delegate: What has the runtime's protocol of delegates, such as ``Delegate`` or ``NativeKernels``.

    The object must live as long as the environment.

    Raises:
        InterpreterError: LiteRT refuses it.
    """

    def __init__(self, environment: c_void_p, delegate: Any) -> None:
        self._delegate = delegate  # lives as long as what points to it
        self._pointer = c_void_p(delegate._get_native_delegate_pointer())  # noqa: SLF001  the runtime's protocol
        self._create = litert.CREATE_DELEGATE(self._wrap)
        accelerator = litert.create("LiteRtCreateAccelerator")
        litert.call("LiteRtSetAcceleratorGetName", accelerator, _name)
        litert.call("LiteRtSetAcceleratorGetVersion", accelerator, _version)
        litert.call("LiteRtSetAcceleratorGetHardwareSupport", accelerator, _hardware)
        litert.call("LiteRtSetDelegateFunction", accelerator, self._create)
        litert.call("LiteRtRegisterAccelerator", environment, accelerator, None, None)

    def _wrap(
        self, _runtime: int | None, _environment: int | None, _accelerator: int | None, _options: int | None, made: Any
    ) -> int:
        wrapper = c_void_p()
        try:
            litert.call("LiteRtWrapDelegate", self._pointer, _keep, ctypes.byref(wrapper))
        except litert.LiteRtError as error:
            return error.status
        except Exception:  # noqa: BLE001  nothing may be raised into C
            return _UNKNOWN
        made[0] = wrapper.value
        return _OK
