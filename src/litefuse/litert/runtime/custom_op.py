"""Kernels of custom ops: how to write them, and how they are found by the name of their op."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.runtime.kernel_pack import kernel_classes
from litefuse.support.plug_ins.entry_points import (
    GROUP,
    PlugIn,
    find_plug_ins,
    load_plug_ins,
    loading_plug_in,
    third_party_code,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    import numpy as np
    import numpy.typing as npt

    from litefuse.litert.runtime.outputs import Outputs
    from litefuse.litert.runtime.scales import QuantizationParameters

_FORMER_GROUP = "litefuse.kernels"  # of classes, by the names of their ops


@dataclass(frozen=True, init=False)
class TensorSpec:
    """The type of a tensor as it is known before the model runs.

    Attributes:
        shape: Its sizes; None if they are known only after the kernel ran.
        dtype: Its numpy dtype. Strings are ``object`` (the elements are ``bytes``), bfloat16 is ``ml_dtypes.bfloat16``.
        name: Its name in the model; empty in a specification that a kernel creates.
        value: Its value as a read-only array if it is a constant of the model, else None.
        quantization: How real numbers became its integers; None if it is not quantized.
    """

    shape: tuple[int, ...] | None
    dtype: np.dtype[Any]
    name: str = ""
    value: npt.NDArray[Any] | None = field(default=None, compare=False, repr=False)
    quantization: QuantizationParameters | None = field(default=None, compare=False)

    def __init__(
        self,
        shape: Iterable[int] | None,
        dtype: npt.DTypeLike,
        name: str = "",
        value: npt.NDArray[Any] | None = None,
        quantization: QuantizationParameters | None = None,
    ) -> None:
        import numpy as np  # the process that starts conversions has kernels to send, and computes nothing

        try:
            object.__setattr__(self, "shape", None if shape is None else tuple(int(size) for size in shape))
            object.__setattr__(self, "dtype", np.dtype(dtype))
        except TypeError as error:
            raise KernelError(
                f"no tensor has the shape {shape!r} and the dtype {dtype!r}: {error}",
                hint="Sizes are integers; TensorSpec(None, dtype) is of a shape that depends on values.",
            ) from None
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "quantization", quantization)


class CustomOp:
    """Base class of kernels: the implementation of one custom op, in numpy.

    There is one instance for each node of the op in the model, created when the model is loaded and again whenever the
    runtime undoes and redoes its delegates; ``self`` may hold what ``prepare`` computes for ``invoke``.

    The op's options arrive as keyword arguments. A method that names some of them receives those; one that ends in
    ``**attributes`` receives all. A named option without a default that the model lacks is a ``KernelError``.

    Any exception that a method raises propagates from ``litefuse.Interpreter.allocate_tensors`` or ``invoke``, with a
    note of the op and the node.
    """

    op_name: ClassVar[str] = ""
    """The op's name in the model, set by ``custom_op``."""

    dtypes: ClassVar[tuple[str, ...]] = ()
    """The dtypes that the kernel computes with, such as ``float32``, for lists of kernels; empty: not stated."""

    quantized_dtypes: ClassVar[tuple[str, ...]] = ()
    """The dtypes, ``int8`` and ``int16``, in which it also takes and gives activations, all of the same dtype: a model
    that is quantized to it has integers on both sides of the op. Their scales are in the tensors' specifications."""

    same_scales: ClassVar[Mapping[int, int]] = {}
    """From the position of an output to that of the input whose scale and zero point it has, in quantized models: of an
    op that hands numbers on. A node where they differ, or have a scale for each slice of an axis, is refused."""

    output_specs: tuple[TensorSpec, ...] = ()
    """The node's outputs as the model declares them, with their scales; the shapes are None. Set before ``prepare``."""

    form: ClassVar[str] = "numpy"
    """How it computes, for lists of kernels: ``numpy``, ``compiled`` or ``native``."""

    library: ClassVar[str] = ""
    """The path of the library that runs the op; empty for a kernel in Python."""

    @classmethod
    def decode_options(cls, data: bytes) -> dict[str, Any]:
        """Turns a node's ``custom_options`` into the keyword arguments of ``prepare`` and ``invoke``.

        By default it decodes a flexbuffer map (with integers, floats, strings, booleans, blobs as bytes, vectors as
        lists); data of any other form gives no options. Override it for an op that writes something else, such as a C
        struct.
        """
        from litefuse.litert.runtime.options import decode_map

        return decode_map(data) or {}

    def prepare(self, *inputs: Any, **attributes: Any) -> Any:
        """Returns the types of the op's outputs; called before ``invoke`` and again when an input was resized.

        Args:
            *inputs: A ``TensorSpec`` for each input of the node, with known shape; None for an optional input that is
                absent.
            **attributes: The op's options.

        Returns:
            A ``TensorSpec``, or a sequence of them, one for each output of the node, with the dtypes that the model
            declares. A shape of None means that the size depends on the inputs' values.

        Raises:
            KernelError: The op does not take an input of this shape or dtype, a constant, or an option.
        """
        raise NotImplementedError

    def invoke(self, inputs: Any, outputs: Outputs, *_: Any, **attributes: Any) -> None:
        """Computes the outputs.

        Args:
            inputs: One read-only array for each input, a view of the runtime's memory that is valid only during this
                call; None for an optional input that is absent. Strings are an object array of ``bytes``.
            outputs: One writable array for each output, likewise: fill ``outputs[i][...]``, or assign
                ``outputs[i] = array``. An output whose shape was None must be assigned. The arrays are not cleared.
            **attributes: The op's options.

        Raises:
            KernelError: The op does not take a value of an input.
        """
        raise NotImplementedError


class PartlyNativeKernel(CustomOp):
    """Base class of the pack's kernels whose C++ form does not support all attributes."""

    @classmethod
    @abstractmethod
    def is_beyond_native(cls, attributes: Mapping[str, Any]) -> bool:
        """Whether the C++ kernel does not support an op with these attributes."""


class _Pack(Mapping[str, "type[CustomOp]"]):
    def __getitem__(self, op: str) -> type[CustomOp]:
        return kernel_classes()[op].load()

    def __contains__(self, op: object) -> bool:
        return op in kernel_classes()

    def __iter__(self) -> Iterator[str]:
        return iter(kernel_classes())

    def __len__(self) -> int:
        return len(kernel_classes())


PACK: Mapping[str, type[CustomOp]] = _Pack()
"""The pack's kernels by the names of their ops. One that is registered with ``custom_op`` takes precedence."""

Kernel = TypeVar("Kernel", bound=CustomOp)
_EXAMPLE = """A kernel is a class with two methods:

@litefuse.custom_op("Twice")
class Twice(litefuse.CustomOp):
    def prepare(self, x):
        return litefuse.TensorSpec(x.shape, x.dtype)  # of the output

    def invoke(self, inputs, outputs):
        outputs[0][...] = 2 * inputs[0]"""

_registered: dict[str, type[CustomOp]] = {}  # from the running program
_installed: dict[str, tuple[type[CustomOp], str]] = {}  # from plug-ins, each with its package
_libraries: tuple[PlugIn, ...] = ()  # the plug-ins whose kernels are among these


def custom_op(name: str = "", *, replace: bool = False) -> Callable[[type[Kernel]], type[Kernel]]:
    """Class decorator that registers the class as the kernel of the custom op (or StableHLO composite) ``name``.

    Args:
        name: The op's name in the model, such as ``ExtractImagePatches``.
        replace: Whether a kernel that is already registered under the name may be replaced.

    Returns:
        A decorator that registers the class and returns it.

    Raises:
        KernelError: The class is not a kernel, or the name is empty or taken by another class.
    """
    # Checked at run time too: in a decorator without brackets, ``name`` is the decorated class.
    if not name or not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KernelError("a custom op needs a name", hint='Write @custom_op("NameOfTheOp").')

    def register(kernel: type[Kernel]) -> type[Kernel]:
        if isinstance(kernel, type) and issubclass(kernel, CustomOp):  # pyright: ignore[reportUnnecessaryIsInstance]
            kernel.op_name = name
        kernels_by_name([kernel])
        register_kernel(kernel, loading_plug_in(), replace=replace)
        return kernel

    return register


def register_kernel(kernel: type[CustomOp], plug_in: PlugIn | None = None, *, replace: bool = False) -> None:
    """Registers a complete kernel for its op.

    Args:
        kernel: Its class.
        plug_in: The installed plug-in that has it, whose library goes before its kernels in Python; None: the running
            program has it.
        replace: Whether it may replace another kernel that is registered.

    Raises:
        KernelError: The name is taken by another class.
    """
    name = kernel.op_name
    present, package = _registered.get(name), ""
    if plug_in is not None:
        present, package = _installed.get(name, (None, plug_in.package))
        in_cpp = bool(kernel.library)
        if present is not None and package == plug_in.package and bool(present.library) != in_cpp:
            if in_cpp:
                _installed[name] = kernel, package
            return
    # The same class again is a module that was reloaded, or a notebook cell that was run again.
    if present is not None and _qualified_name(present) != _qualified_name(kernel) and not replace:
        of_package = f" of {package}" if package else ""
        raise KernelError(
            f"custom op {name!r} already has the kernel {_qualified_name(present)}{of_package}",
            where=_qualified_name(kernel),
            hint=f"Use @custom_op({name!r}, replace=True) to replace it.",
        )
    if plug_in is not None:
        _installed[name] = kernel, plug_in.package
        return
    _registered.pop(name, None)  # the last registered is the last of them
    _registered[name] = kernel


def _qualified_name(kernel: type[CustomOp]) -> str:
    return f"{kernel.__module__}.{kernel.__qualname__}"


def kernels_by_name(kernels: Iterable[type[CustomOp]]) -> dict[str, type[CustomOp]]:
    """Checks kernel classes and returns them by the name of their op.

    Raises:
        KernelError: One of them is not a complete kernel, or two are for the same op.
    """
    named: dict[str, type[CustomOp]] = {}
    for kernel in kernels:
        # Checked at run time too: plug-ins and untyped callers may pass anything.
        if not (isinstance(kernel, type) and issubclass(kernel, CustomOp)):  # pyright: ignore[reportUnnecessaryIsInstance]
            name = getattr(kernel, "__qualname__", repr(kernel))
            raise KernelError(f"{name} is not a subclass of CustomOp", hint=_EXAMPLE)
        where = _qualified_name(kernel)
        missing = [method for method in ("prepare", "invoke") if getattr(kernel, method) is getattr(CustomOp, method)]
        if missing:
            raise KernelError(f"the kernel does not define {' and '.join(missing)}", where=where, hint=_EXAMPLE)
        if unknown := {*kernel.quantized_dtypes} - {"int8", "int16"}:
            raise KernelError(f"quantized_dtypes are int8 and int16, not {', '.join(sorted(unknown))}", where=where)
        if any(type(position) is not int or position < 0 for pair in kernel.same_scales.items() for position in pair):
            raise KernelError(
                f"same_scales has positions of outputs and inputs, not {dict(kernel.same_scales)}", where=where
            )
        if not kernel.op_name:
            raise KernelError(
                "the kernel does not say which op it is for",
                where=where,
                hint='Decorate it with @custom_op("NameOfTheOp").',
            )
        if named.setdefault(kernel.op_name, kernel) is not kernel:
            raise KernelError(f"two kernels for custom op {kernel.op_name!r}", where=where)
    return named


def is_registered(kernel: type[CustomOp]) -> bool:
    """Whether exactly this class is the kernel that ``custom_op`` registered under its op's name."""
    return _registered.get(kernel.op_name) is kernel


def registered_kernels() -> dict[str, type[CustomOp]]:
    """Returns the kernels that ``custom_op`` registered, by the name of their op."""
    return dict(_registered)


def registered_libraries() -> dict[str, list[str]]:
    """Returns the libraries that registered kernels are in, each with its ops, the last registered first."""
    return _by_library(reversed(_registered.values()))


def installed_libraries() -> dict[str, list[str]]:
    """Returns the libraries of kernels in installed packages, each with its ops.

    Raises:
        LitefuseError: One of them is missing, or cannot be loaded.
    """
    _load_libraries()
    return _by_library(kernel for kernel, _ in _installed.values())


def _by_library(kernels: Iterable[type[CustomOp]]) -> dict[str, list[str]]:
    libraries: dict[str, list[str]] = {}
    for kernel in kernels:
        if kernel.library:
            libraries.setdefault(kernel.library, []).append(kernel.op_name)
    return libraries


def replace_registered(kernels: Mapping[str, type[CustomOp]]) -> None:
    """Replaces all kernels that ``custom_op`` registered by these."""
    _registered.clear()
    _registered.update(kernels)


def installed_kernels() -> dict[str, str]:
    """Returns the ops that installed packages have kernels for, each with its package.

    Raises:
        LitefuseError: A plug-in cannot be loaded.
    """
    _load_libraries()
    load_plug_ins()
    former = {name: plug_in.package or plug_in.module for name, plug_in in _former_plug_ins().items()}
    return {**former, **{name: package for name, (_, package) in _installed.items()}}


def package_kernels(ops: Iterable[str]) -> dict[str, str]:
    """Returns those of a model's custom ops that run with the kernel of an installed package, each with the package."""
    others = [op for op in ops if op not in _registered and op not in PACK]
    installed = installed_kernels() if others else {}
    return {op: installed[op] for op in others if op in installed}


def _former_plug_ins() -> dict[str, PlugIn]:
    return {plug_in.name: plug_in for plug_in in find_plug_ins(_FORMER_GROUP)}


def _load_libraries() -> None:
    """Registers the kernels in libraries of installed packages, once."""
    global _libraries
    plug_ins = tuple(plug_in for plug_in in find_plug_ins(GROUP) if plug_in.is_library)
    if plug_ins == _libraries:
        return
    from litefuse.litert.runtime.loading import register_library

    for plug_in in plug_ins:
        with third_party_code("the library cannot be loaded", plug_in.where, KernelError, own=LitefuseError):
            try:
                register_library(str(plug_in.load()), plug_in)
            except KernelError as error:
                hint = error.hint or f"Install {plug_in.package} again, or remove it."
                raise KernelError(error.message, where=error.where, hint=hint) from error
    _libraries = plug_ins


def find_kernel(name: str, *, without: Container[str] = (), with_pack: bool = True) -> type[CustomOp] | None:
    """Returns the kernel of the custom op ``name``, or None.

    It is looked up among those registered with ``custom_op``, then in the pack ``litefuse.kernels``, then in installed
    packages: their libraries, then their modules. (Of the former group ``litefuse.kernels``, only the entry point
    ``NameOfTheOp = package.module:KernelClass`` is loaded.)

    Args:
        name: The op's name.
        without: Names that something else runs unless ``custom_op`` registered a kernel for them.
        with_pack: Whether the pack counts.

    Raises:
        LitefuseError: A plug-in cannot be loaded, or what it loads is not a kernel of that op.
    """
    kernel = _registered.get(name)
    if kernel is None and name in without:
        return None
    if kernel is None and with_pack:
        kernel = PACK.get(name)
    return kernel or _installed_kernel(name)


def _installed_kernel(name: str) -> type[CustomOp] | None:
    _load_libraries()
    if name not in _installed:
        if (plug_in := _former_plug_ins().get(name)) is not None:
            return _load(plug_in)
        load_plug_ins()
    return _installed[name][0] if name in _installed else None


def has_kernel(name: str) -> bool:
    """Whether :func:`find_kernel` finds one, or fails to load it."""
    return name in _registered or name in PACK or name in installed_kernels()


def kernel_beyond_native(name: str, options: bytes) -> type[CustomOp] | None:
    """The pack's kernel in Python, where that in C++ does not take an op with these options; else None.

    Args:
        name: The op's name; a native kernel runs it.
        options: The node's ``custom_options``.
    """
    if not _is_partly_native(name):
        return None
    from litefuse.litert.runtime.options import decode_map

    return find_kernel(name) if is_beyond_native(name, decode_map(options) or {}) else None


def is_beyond_native(op: str, attributes: Mapping[str, Any]) -> bool:
    """Whether the C++ kernel of an op, which must exist, does not support it with these attributes."""
    kernel = PACK[op] if _is_partly_native(op) else None
    return kernel is not None and issubclass(kernel, PartlyNativeKernel) and kernel.is_beyond_native(attributes)


def _is_partly_native(op: str) -> bool:
    class_ = kernel_classes().get(op)
    return class_ is not None and class_.keywords.get("native") == "partly"


def _load(plug_in: PlugIn) -> type[CustomOp]:
    where = plug_in.where
    with third_party_code("does not load", where, KernelError):
        loaded = plug_in.load()
    try:
        return kernels_by_name([loaded])[plug_in.name]
    except KernelError as error:
        raise KernelError(error.message, where=where, hint=error.hint) from error
    except KeyError:
        raise KernelError(f"is a kernel of another op, {loaded.op_name!r}", where=where) from None
