"""The C structs of LiteRT's delegate interface, as ctypes sees them on 64-bit machines.

Source of the layouts: ``tflite/core/c/common.h`` and ``builtin_op_data.h`` of LiteRT. The runtime calls this interface
experimental, so nothing here is used before ``layout.check_layout`` has compared it with the installed runtime.

Structs that only the runtime creates are declared up to the last field that is read.
"""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_char_p, c_float, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Any

from litefuse.litert.runtime.process_memory import c_library

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class Status(IntEnum):
    """``TfLiteStatus``."""

    OK = 0
    ERROR = 1


class AllocationType(IntEnum):
    """``TfLiteAllocationType``."""

    MMAP_RO = 1
    ARENA_RW = 2
    DYNAMIC = 4
    PERSISTENT_RO = 5


class DelegateFlags(IntFlag):
    """``TfLiteDelegateFlags``."""

    ALLOW_DYNAMIC_TENSORS = 1


class BuiltinOperator(IntEnum):
    """The codes of the operators that a delegate inspects."""

    CUSTOM = 32
    STABLEHLO_COMPOSITE = 206


class TfLiteType(IntEnum):
    """``TfLiteType``: not the numbers that the flatbuffer uses."""

    FLOAT32 = 1
    INT32 = 2
    UINT8 = 3
    INT64 = 4
    STRING = 5
    BOOL = 6
    INT16 = 7
    COMPLEX64 = 8
    INT8 = 9
    FLOAT16 = 10
    FLOAT64 = 11
    COMPLEX128 = 12
    UINT64 = 13
    RESOURCE = 14
    VARIANT = 15
    UINT32 = 16
    UINT16 = 17
    INT4 = 18
    BFLOAT16 = 19


class TfLiteTensor(ctypes.Structure):
    """A tensor; ``dims`` is a ``TfLiteIntArray``."""

    type: int
    data: int | None
    dims: int | None
    scale: float
    zero_point: int
    allocation_type: int
    bytes: int
    name: bytes | None
    is_variable: bool
    quantization_type: int
    quantization_params: int | None
    dims_signature: int | None

    _fields_ = (
        ("type", c_int),
        ("data", c_void_p),
        ("dims", c_void_p),
        ("scale", c_float),
        ("zero_point", c_int32),
        ("allocation_type", c_int),
        ("bytes", c_size_t),
        ("allocation", c_void_p),
        ("name", c_char_p),
        ("delegate", c_void_p),
        ("buffer_handle", c_int),
        ("data_is_stale", c_bool),
        ("is_variable", c_bool),
        ("quantization_type", c_int),
        ("quantization_params", c_void_p),
        ("sparsity", c_void_p),
        ("dims_signature", c_void_p),
    )


#: ``kTfLiteNoQuantization``: the tensor's own ``scale`` counts, if it is above 0.
NO_QUANTIZATION = 0
#: ``kTfLiteAffineQuantization``: ``quantization_params`` is a ``TfLiteAffineQuantization``.
AFFINE_QUANTIZATION = 1


class TfLiteAffineQuantization(ctypes.Structure):
    """Scales: ``scale`` is a ``TfLiteFloatArray``, ``zero_point`` a ``TfLiteIntArray``."""

    scale: int | None
    zero_point: int | None
    quantized_dimension: int

    _fields_ = (("scale", c_void_p), ("zero_point", c_void_p), ("quantized_dimension", c_int32))


class TfLiteNode(ctypes.Structure):
    """A node: ``inputs`` and ``outputs`` are ``TfLiteIntArray`` of tensor indices, -1 for an absent input."""

    inputs: int
    outputs: int
    builtin_data: int | None
    custom_initial_data: int | None
    custom_initial_data_size: int
    delegate: int | None

    _fields_ = (
        ("inputs", c_void_p),
        ("outputs", c_void_p),
        ("intermediates", c_void_p),
        ("temporaries", c_void_p),
        ("user_data", c_void_p),
        ("builtin_data", c_void_p),
        ("custom_initial_data", c_void_p),
        ("custom_initial_data_size", c_int),
        ("delegate", c_void_p),
        ("might_have_side_effect", c_bool),
    )


class TfLiteRegistration(ctypes.Structure):
    """The functions of an op or of a delegate's kernel."""

    init: int | None
    free: int | None
    prepare: int | None
    invoke: int | None
    builtin_code: int
    custom_name: bytes | None
    version: int

    _fields_ = (
        ("init", c_void_p),
        ("free", c_void_p),
        ("prepare", c_void_p),
        ("invoke", c_void_p),
        ("profiling_string", c_void_p),
        ("builtin_code", c_int32),
        ("custom_name", c_char_p),
        ("version", c_int),
        ("registration_external", c_void_p),
        ("async_kernel", c_void_p),
        ("inplace_operator", c_uint64),
    )


class TfLiteContext(ctypes.Structure):
    """A subgraph, seen by its delegates and kernels."""

    tensors_size: int
    GetExecutionPlan: int
    tensors: int
    ReportError: int
    GetNodeAndRegistration: int
    ReplaceNodeSubsetsWithDelegateKernels: int
    ResizeTensor: int
    profiler: int | None

    _fields_ = (
        ("tensors_size", c_size_t),
        ("GetExecutionPlan", c_void_p),
        ("tensors", c_void_p),
        ("impl_", c_void_p),
        ("ResizeTensor", c_void_p),
        ("ReportError", c_void_p),
        ("AddTensors", c_void_p),
        ("GetNodeAndRegistration", c_void_p),
        ("ReplaceNodeSubsetsWithDelegateKernels", c_void_p),
        ("recommended_num_threads", c_int),
        # Of the rest, kernels in C++ may use what the runtime sets; the other pointers are null.
        ("GetExternalContext", c_void_p),
        ("SetExternalContext", c_void_p),
        ("allow_fp32_relax_to_fp16", c_bool),
        ("profiler", c_void_p),
        ("AllocatePersistentBuffer", c_void_p),
        ("AllocateBufferForEval", c_void_p),
        ("RequestScratchBufferInArena", c_void_p),
        ("GetScratchBuffer", c_void_p),
        ("ResizeTensorExplicit", c_void_p),
        ("PreviewDelegatePartitioning", c_void_p),
        ("GetTensor", c_void_p),
        ("GetEvalTensor", c_void_p),
        ("GetModelMetadata", c_void_p),
        ("AcquireSubgraphContext", c_void_p),
        ("ReleaseSubgraphContext", c_void_p),
    )


class TfLiteDelegate(ctypes.Structure):
    """A delegate; only this struct is created by litefuse."""

    Prepare: int | None
    flags: int
    opaque_delegate_builder: int | None

    _fields_ = (
        ("data_", c_void_p),
        ("Prepare", c_void_p),
        ("CopyFromBufferHandle", c_void_p),
        ("CopyToBufferHandle", c_void_p),
        ("FreeBufferHandle", c_void_p),
        ("flags", c_int64),
        ("opaque_delegate_builder", c_void_p),
    )


class StablehloCompositeParams(ctypes.Structure):
    """``TfLiteStablehloCompositeParams``, the ``builtin_data`` of STABLEHLO_COMPOSITE."""

    name: bytes | None
    subgraph_index: int
    attributes: int | None
    attributes_size: int

    _fields_ = (
        ("name", c_char_p),
        ("subgraph_index", c_int32),
        ("attributes", c_void_p),
        ("attributes_size", c_size_t),
        ("version", c_int32),
    )


_libc = c_library()

# Called by the runtime. Each takes only the context, because all else is bound to it (see ``guarded``); the further
# arguments that the runtime passes stay unread in their registers, which the calling conventions of the 64-bit
# platforms allow.
CALLBACK = ctypes.CFUNCTYPE(c_int, c_void_p)
INIT = ctypes.CFUNCTYPE(c_size_t, c_void_p)
FREE = ctypes.CFUNCTYPE(None, c_void_p, c_size_t)

# Called by litefuse, with the GIL held throughout: they are short, and some of them call back.
GET_EXECUTION_PLAN = ctypes.PYFUNCTYPE(c_int, c_void_p, c_void_p)
GET_NODE_AND_REGISTRATION = ctypes.PYFUNCTYPE(c_int, c_void_p, c_int, c_void_p, c_void_p)
REPLACE_NODE_SUBSETS = ctypes.PYFUNCTYPE(c_int, c_void_p, TfLiteRegistration, c_void_p, c_void_p)
RESIZE_TENSOR = ctypes.PYFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
# A variadic function in C: safe to call through this type as long as nothing follows the format.
REPORT_ERROR = ctypes.PYFUNCTYPE(None, c_void_p, c_char_p)


def address_of(callback: Any) -> int:
    """Returns the address of a callback's code. ``ctypes.cast`` would tie its argument into a reference cycle."""
    return c_size_t.from_buffer(callback).value


def read_int_array(address: int | None) -> tuple[int, ...]:
    """Reads the ``TfLiteIntArray`` at ``address``: an int32 count, then that many int32; returns none for NULL."""
    if not address:
        return ()
    count = c_int.from_address(address).value
    return tuple((c_int * count).from_address(address + ctypes.sizeof(c_int)))


def read_float_array(address: int | None) -> tuple[float, ...]:
    """Reads the ``TfLiteFloatArray`` at ``address``: an int32 count, then that many float32; returns none for NULL."""
    if not address:
        return ()
    count = c_int.from_address(address).value
    return tuple((c_float * count).from_address(address + ctypes.sizeof(c_int)))


def int_array(*values: int) -> ctypes.Array[c_int]:
    """Creates a ``TfLiteIntArray`` that holds ``values``."""
    return (c_int * (1 + len(values)))(len(values), *values)


def owned_int_array(*values: int) -> int:
    """Creates a ``TfLiteIntArray`` with C's allocator, for the runtime to own and free; returns its address."""
    array = int_array(*values)
    address = _libc.malloc(ctypes.sizeof(array))
    if not address:
        raise MemoryError(f"no memory for {len(values)} sizes")
    ctypes.memmove(address, array, ctypes.sizeof(array))
    return address


def free(address: int) -> None:
    """Frees memory of C's allocator."""
    _libc.free(address)


def guarded(function: Callable[[int], int], failed: Callable[[BaseException], int]) -> Callable[[int], int]:
    """Makes a C callback of a function that lets no exception escape, not even interrupts.

    ctypes prints and drops an exception that leaves a callback, and the caller in C reads an uninitialized result. A
    ``try`` in the callback's body is not enough: Python handles signals when a function is entered, before its first
    statement, and after a long op in C an interrupt is pending exactly then. A suspended generator is already inside
    its ``try`` when it is resumed, so the callback is the ``send`` of one, which takes one argument.

    Args:
        function: The callback.
        failed: Handles whatever it raises, and returns a result in its place.
    """
    generator = _guard(function, failed)
    next(generator)
    return generator.send


def _guard(function: Callable[[int], int], failed: Callable[[BaseException], int]) -> Generator[int, int, None]:
    result = 0
    while True:
        try:
            argument = yield result
            result = function(argument)
        except GeneratorExit:
            return
        except BaseException as error:  # noqa: BLE001 - a callback must not raise
            result = failed(error)
