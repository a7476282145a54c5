"""Kernels whose ``invoke`` is compiled by numba: it runs as machine code, without the interpreter lock."""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import numpy as np

from litefuse.errors import KernelError
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op, is_registered
from litefuse.litert.runtime.options import Parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

Kernel = TypeVar("Kernel", bound=CustomOp)

# numba knows float16 too, but compiles it for GPUs only.
_DTYPES = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
    }
)


@overload
def compiled(kernel: type[Kernel]) -> type[Kernel]: ...
@overload
def compiled(*, fastmath: bool = False, cache: bool = False) -> Callable[[type[Kernel]], type[Kernel]]: ...
def compiled(kernel: type[Any] | None = None, *, fastmath: bool = False, cache: bool = False) -> Any:
    """Class decorator that has numba compile the kernel's ``invoke`` when the model is prepared.

        @litefuse.custom_op("Standardize")
        @litefuse.compiled
        class Standardize(litefuse.CustomOp): ...

    ``prepare`` stays Python. ``invoke`` must be code that numba can compile (``numba.njit``), and is called without the
    interpreter lock. It gets

    - ``inputs`` and ``outputs``: tuples of arrays, None for an optional input that is absent. All dtypes but strings,
      float16 and bfloat16. Outputs are filled, not assigned, so ``prepare`` must know their shapes.
    - ``self``: the attributes that ``prepare`` set and ``invoke`` reads: numbers, strings, arrays, tuples of these.
    - the options that it names after ``*``, lists as tuples.

    Args:
        kernel: The kernel's class.
        fastmath: Let the compiler reorder floating point operations.
        cache: Keep the compiled code in ``__pycache__`` next to the source for the next process.

    Returns:
        A subclass that compiles; the class itself is unchanged.

    Raises:
        KernelError: ``invoke`` takes something that compiled code cannot, such as ``**attributes``. When the model is
            prepared: numba is not installed, or cannot compile the code.
    """
    if kernel is None:
        return functools.partial(_compiled, fastmath=fastmath, cache=cache)
    return _compiled(kernel, fastmath=fastmath, cache=cache)


def _compiled(kernel: type[CustomOp], *, fastmath: bool, cache: bool) -> type[CustomOp]:
    where = f"{kernel.__module__}.{kernel.__qualname__}"
    prepare, invoke = kernel.prepare, _plain_function(kernel.invoke, where)
    of_prepare, of_invoke = Parameters.of(prepare), Parameters.of(invoke)
    names = [
        parameter.name
        for parameter in inspect.signature(invoke).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    defaults = invoke.__kwdefaults__ or {}
    read = _names(invoke.__code__)
    dispatcher = _Dispatcher(invoke, where, fastmath=fastmath, cache=cache)

    def prepare_compiled(self: Any, *inputs: TensorSpec | None, **options: Any) -> Any:
        answer: Any = prepare(self, *inputs, **of_prepare.select(options, where=where))
        given: Mapping[str, Any] = {**defaults, **of_invoke.select(options, where=where)}
        compiled_function = dispatcher()
        view = _view(self, read)
        values = tuple(_value(given[name]) for name in names)
        outputs = [answer] if isinstance(answer, TensorSpec) else list(answer)
        _compile(compiled_function, view, inputs, outputs, values, where)
        self.__dict__["_compiled_call"] = compiled_function, view, values
        return answer

    def invoke_compiled(self: Any, inputs: Any, outputs: Outputs, **_: Any) -> None:
        function, view, values = self.__dict__["_compiled_call"]
        return function(view, inputs, tuple(outputs), *values)

    prepare_compiled.__signature__ = _with_options_of(prepare, invoke)  # pyright: ignore[reportFunctionMemberAccess]
    functools.update_wrapper(invoke_compiled, invoke)
    body: dict[str, Any] = {
        "prepare": prepare_compiled,
        "invoke": invoke_compiled,
        "__doc__": kernel.__doc__,
        "__module__": kernel.__module__,
        "__qualname__": kernel.__qualname__,
        "form": "compiled",
    }
    made = cast("type[CustomOp]", type(kernel.__name__, (kernel,), body))
    if is_registered(kernel):  # the decorators are in the other order
        custom_op(kernel.op_name, replace=True)(made)
    return made


def _plain_function(method: Any, where: str) -> FunctionType:
    """Returns ``invoke`` as a function with a signature that compiled code supports."""
    if not isinstance(method, FunctionType):
        raise KernelError("invoke must be a plain method to be compiled", where=where)
    kinds = {parameter.kind for parameter in inspect.signature(method).parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} or method.__code__.co_argcount != 3:
        raise KernelError(
            "an invoke that is compiled takes self, inputs, outputs, and after * the options by name",
            where=where,
            hint="Write def invoke(self, inputs, outputs, *, option): name each option that it uses.",
        )
    return method


def _with_options_of(prepare: Callable[..., Any], invoke: FunctionType) -> inspect.Signature:
    """Returns the signature of ``prepare`` with the options of ``invoke``, which it compiles for."""
    signature = inspect.signature(prepare)
    parameters = list(signature.parameters.values())
    rest = [parameter for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD]
    own = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    present = {parameter.name for parameter in own}
    more = [
        parameter
        for parameter in inspect.signature(invoke).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in present
    ]
    return signature.replace(parameters=[*own, *more, *rest])


class _Dispatcher:
    """A function that numba compiles, made when it is first asked for: importing numba takes a second.

    It goes to another process without what is compiled. ``where`` names the kernel in messages.
    """

    def __init__(self, invoke: FunctionType, where: str, *, fastmath: bool, cache: bool) -> None:
        self._invoke, self._where, self._fastmath, self._cache = invoke, where, fastmath, cache
        self._made: Any = None

    def __call__(self) -> Any:
        if self._made is None:
            self._made = _compilable(self._invoke, self._where, fastmath=self._fastmath, cache=self._cache)
        return self._made

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}


def _compilable(invoke: FunctionType, where: str, *, fastmath: bool, cache: bool) -> Any:
    """Returns a function as numba's dispatcher, with the keyword-only parameters after the others."""
    try:
        import numba
    except ImportError as error:
        raise KernelError(
            "numba must compile the kernel, and is not installed",
            where=where,
            hint="Install it with: pip install 'litefuse[numba]'. Or leave out @litefuse.compiled.",
        ) from error
    # Compiled code has no keyword-only parameters. After the others they take the same places in the frame.
    code = invoke.__code__
    code = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    positional = FunctionType(code, invoke.__globals__, invoke.__name__, None, invoke.__closure__)
    positional.__module__, positional.__qualname__ = invoke.__module__, invoke.__qualname__
    return numba.njit(nogil=True, fastmath=fastmath, cache=cache)(positional)


def _compile(
    function: Any,
    view: Any,
    inputs: Sequence[TensorSpec | None],
    outputs: Sequence[Any],
    values: tuple[Any, ...],
    where: str,
) -> None:
    """Compiles for the types that ``invoke`` will be called with; raises a KernelError if that cannot be."""
    import numba

    for spec in outputs:
        if isinstance(spec, TensorSpec) and spec.shape is None:
            raise KernelError(
                "prepare returned no shape for an output, which a compiled invoke cannot assign",
                where=where,
                hint="Give it a shape, or leave out @litefuse.compiled.",
            )
    try:
        arguments = (
            view,
            tuple(spec and _example(spec, writable=False) for spec in inputs),
            tuple(_example(spec, writable=True) for spec in outputs),
            *values,
        )
        typeof = cast("Any", numba).typeof
        function.compile(tuple(typeof(argument) for argument in arguments))
    except KernelError:
        raise
    except Exception as error:  # numba's own, and what its rewrites of strange code may run into
        raise KernelError(
            f"numba cannot compile invoke: {str(error).strip() or type(error).__name__}", where=where
        ) from error


def _example(spec: TensorSpec, *, writable: bool) -> Any:
    """Returns an array of the type that the tensor's view has."""
    array = np.empty((0,) * len(spec.shape or ()), spec.dtype)
    if str(spec.dtype) not in _DTYPES:
        kind = "strings" if spec.dtype == np.dtype(object) else str(spec.dtype)
        raise KernelError(
            f"numba has no {kind}, which tensor {spec.name!r} is of",
            hint="Leave out @litefuse.compiled for models with such tensors.",
        )
    array.flags.writeable = writable
    return array


def _names(code: CodeType) -> frozenset[str]:
    """Returns the names of attributes and globals that the code uses, including those of nested functions."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*inner)


def _value(value: Any) -> Any:
    """Converts lists to tuples, which compiled code supports."""
    return tuple(_value(item) for item in cast("list[Any]", value)) if isinstance(value, list) else value


def _view(kernel: CustomOp, read: frozenset[str]) -> Any:
    """Returns the ``self`` of compiled code: a named tuple of the instance's attributes that it reads."""
    attributes = {name: _value(value) for name, value in sorted(vars(kernel).items()) if name in read}
    return _view_class(tuple(attributes))(**attributes) if attributes else None


@functools.cache
def _view_class(names: tuple[str, ...]) -> Callable[..., Any]:
    # One class for all instances: numba compiles again for another one.
    return cast("Callable[..., Any]", namedtuple("self", names))  # pyright: ignore[reportUntypedNamedTuple] # noqa: PYI024
