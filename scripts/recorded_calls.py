"""Records what a reproducer of a fault asks of the engine and the interpreter, as lines of a program that does too.

A line is written before it is done: the reproducer may end its process.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import inspect
import json
import re
import sys
import zlib
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, cast

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType, SignatureRunner
from tests.ir.engine.faults import reproducer

from litefuse.ir.mlir import converter_api_ext, ir

_METHODS = ("resize_tensor_input", "allocate_tensors", "set_tensor", "invoke", "reset_all_variables")
_FEW = 64  # elements that are written out
_WIDTH = 116  # of lines of bytes
_ASM = "module.operation.get_asm(large_elements_limit=32)"  # all but large constants


class Call(NamedTuple):
    """What was recorded of a call.

    Attributes:
        code: The line that does the same.
        constant: The name and the text of a constant that the program needs for it.
        shows: What the program prints as long as the fault is there, as far as it is known.
        error: The exception that it raised, if it did: its type and its text.
        standalone: Whether the line does the same without litefuse.
        verdict: Whether the line says whether the fault is there.
    """

    code: str
    constant: tuple[str, str] | None = None
    shows: str = ""
    error: tuple[str, str] | None = None
    standalone: bool = True
    verdict: bool = False


def expression(value: Any) -> str:
    """Python's text of a value: of an array, one that makes it with numpy."""
    if isinstance(value, OpResolverType):
        return str(value)
    if not isinstance(value, np.ndarray | np.generic):
        return re.sub("<.*>", "...", repr(value))
    array: Any = np.array(cast(Any, value))
    if array.dtype.kind in "OSU":
        return f"np.array({array.tolist()!r}, {'object' if array.dtype.kind == 'O' else None})"
    dtype = "bool" if array.dtype == bool else f"np.{array.dtype.name}"
    shape = array.shape
    if not array.size:
        return f"np.zeros({shape}, {dtype})"
    first = _number(array.flat[0])
    if array.size > 4 and np.array_equal(array, np.full(shape, array.flat[0]), equal_nan=array.dtype.kind in "fc"):
        return f"np.full({shape}, {first}, {dtype})"
    if array.ndim == 1 and array.size > 8 and array.dtype.kind in "if":
        step = array[1] - array[0]
        numbers: Any = array[0] + step * np.arange(array.size, dtype=array.dtype)
        if np.array_equal(array, numbers):
            return f"np.arange({first}, {_number(array[-1] + step)}, {_number(step)}, {dtype})"
    if array.size <= _FEW:
        return f"np.array({_numbers(array)}, {dtype})"
    return f"np.frombuffer({_bytes(array.tobytes())}, {dtype}).reshape({shape})"


def _numbers(array: Any) -> str:
    return f"[{', '.join(map(_numbers, array))}]" if np.ndim(array) else _number(array[()])


def _number(value: Any) -> str:
    """The shortest digits that are the number, in its dtype."""
    return repr(complex(value)) if np.iscomplexobj(value) else str(value)


def _bytes(content: bytes) -> str:
    text = base64.b64encode(zlib.compress(content, 9)).decode()
    lines = "\n".join(text[place : place + _WIDTH] for place in range(0, len(text), _WIDTH))
    return f'zlib.decompress(base64.b64decode("""\n{lines}\n"""))'


class Recorder:
    """Writes a JSON line for each call, with the fields of ``Call``, to an open file.

    Args:
        write: Writes the line at once.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._module = ""  # its text as it is in the program
        self._models: dict[bytes, str] = {}
        self._named: list[tuple[Any, str]] = []
        self._inputs: list[tuple[Any, str]] = []
        self._counts: dict[str, int] = {}
        self._is_large = False  # whether an output is
        self._depth = 0

    def install(self) -> None:
        """Has this process recorded from now on."""
        api: Any = converter_api_ext
        for name, record in {
            "run_convert_to_tfl_passes": self._lower,
            "export_flatbuffer_to_bytes": self._export,
            "export_flatbuffer_to_file": self._export_to_file,
            "set_signature": self._sign,
        }.items():
            setattr(api, name, functools.partial(record, getattr(api, name)))
        operation: Any = ir.Operation
        for owner, name, record in [
            (operation, "verify", self._verify),
            (Interpreter, "__init__", self._interpret),
            (Interpreter, "get_tensor", self._get),
            (Interpreter, "get_output_details", self._details),
            (Interpreter, "get_signature_runner", self._runner),
            (SignatureRunner, "__call__", self._run),
            *((Interpreter, name, functools.partial(self._method, name)) for name in _METHODS),
        ]:
            setattr(owner, name, _method(record, getattr(owner, name)))
        for module in [module for name, module in sys.modules.items() if name.startswith("tests.ir.engine.faults")]:
            for name, record in {"differ": self._differ, "is_refused": self._is_refused}.items():
                if hasattr(module, name) and module is not reproducer:
                    setattr(module, name, functools.partial(record, getattr(reproducer, name)))

    @contextlib.contextmanager
    def _call(self, code: str, **fields: Any) -> Generator[None]:
        """Records a line, and what it raises; not those that the interpreter itself calls."""
        if not self._depth:
            self._write(json.dumps(Call(code, **fields)._asdict()))
        self._depth += 1
        try:
            yield
        except Exception as error:
            if self._depth == 1:
                self._write(json.dumps({"error": (type(error).__name__, str(error))}))
            raise
        finally:
            self._depth -= 1

    def _line(self, code: str, **fields: Any) -> None:
        with self._call(code, **fields):
            pass

    def _name(self, kind: str, value: Any = None) -> str:
        """A new name of a variable."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        name = kind if self._counts[kind] == 1 else f"{kind}_{self._counts[kind]}"
        self._named.append((value, name))
        return name

    def _named_as(self, value: Any) -> str | None:
        return next((name for known, name in self._named if known is value), None)

    def _parse(self, operation: Any, *, verified: bool = False) -> None:
        """Has the program make a module, unless it is the one that it has."""
        text = str(operation.get_asm(assume_verified=verified)).strip()
        if text != self._module:
            self._module = text
            constant = self._name("MODULE")
            self._line(f"module = ir.Module.parse({constant})", constant=(constant, text))

    def _lower(self, function: Any, module: Any, passes: Any, config: Any) -> Any:
        self._parse(module.operation)
        bounded = config.canonicalizing_inf_as_min_max_float
        self._line("config = converter_api_ext.ConvertToTFLConfig()")
        self._line(f"config.canonicalizing_inf_as_min_max_float = {bounded}")
        with self._call("converter_api_ext.run_convert_to_tfl_passes(module, PassManager(), config)"):
            result = function(module, passes, config)
        self._module = str(module).strip()
        asm = module.operation.get_asm(large_elements_limit=32)
        self._line(f"print({_ASM})", shows=asm)
        return result

    def _export(self, function: Any, operation: Any) -> Any:
        self._parse(operation)
        name = self._name("model")
        with self._call(f"{name} = converter_api_ext.export_flatbuffer_to_bytes(module.operation)"):
            content = function(operation)
        self._models[content] = name
        self._line(f'print(len({name}), "bytes")', shows=f"{len(content)} bytes")
        return content

    def _export_to_file(self, function: Any, operation: Any, path: Any) -> Any:
        self._parse(operation)
        with self._call(f"converter_api_ext.export_flatbuffer_to_file(module.operation, {path!r})"):
            return function(operation, path)

    def _sign(self, function: Any, operation: Any, *names: Any) -> Any:
        if _is_of_graph():  # it is a part of making the module
            return function(operation, *names)
        module = operation.operation.parent
        self._parse(module)
        self._line('main = next(op for op in module.body.operations if op.name.value == "main")')
        with self._call(f"converter_api_ext.set_signature(main, {', '.join(map(repr, names))})"):
            result = function(operation, *names)
        self._module = str(module).strip()
        self._line(f"print({_ASM})", shows=str(module))
        return result

    def _verify(self, function: Any, operation: Any) -> Any:
        if operation.name == "builtin.module" and not self._depth:
            self._parse(operation, verified=True)  # printing would verify it
        with self._call("module.operation.verify()"):
            return function(operation)

    def _model(self, content: bytes) -> str:
        if content not in self._models:
            name, last = self._name("model"), next(reversed(self._models.items()), (b"", ""))
            places = [place for place, (new, old) in enumerate(zip(content, last[0], strict=False)) if new != old]
            if len(content) == len(last[0]) and len(places) < _FEW:
                begin, end = places[0], places[-1] + 1
                self._line(f"{name} = {last[1]}[:{begin}] + {content[begin:end]!r} + {last[1]}[{end}:]")
            else:
                constant = self._name("MODEL")
                self._line(f"{name} = {constant}", constant=(constant, _bytes(content)))
            self._models[content] = name
        return self._models[content]

    def _interpret(self, function: Any, interpreter: Any, **options: Any) -> Any:
        texts = {
            key: self._model(value) if key == "model_content" else expression(value) for key, value in options.items()
        }
        name = self._name("interpreter", interpreter)
        arguments = ", ".join(f"{key}={value}" for key, value in texts.items())
        with self._call(f"{name} = Interpreter({arguments})", standalone="experimental_delegates" not in options):
            return function(interpreter, **options)

    def _method(self, method: str, function: Any, interpreter: Any, *values: Any) -> Any:
        texts = [expression(value if method == "set_tensor" else np.asarray(value).tolist()) for value in values]
        self._inputs += [(value, text) for value, text in zip(values, texts, strict=True) if method == "set_tensor"]
        with self._call(f"{self._named_as(interpreter)}.{method}({', '.join(texts)})"):
            return function(interpreter, *values)

    def _get(self, function: Any, interpreter: Any, index: int) -> Any:
        name = self._name("y")
        with self._call(f"{name} = {self._named_as(interpreter)}.get_tensor({index})"):
            result = function(interpreter, index)
        self._named.append((result, name))
        if np.size(result) > _FEW and not self._is_large:
            self._is_large = True
            self._line(f"np.set_printoptions(threshold={_FEW})")
        self._line(f"print({name}, np.shape({name}))")
        return result

    def _details(self, function: Any, interpreter: Any) -> Any:
        result = function(interpreter)
        if self._depth or _is_of_graph():
            return result
        shapes = [each["shape"].tolist() for each in result]
        owner = self._named_as(interpreter)
        self._line(f'print([each["shape"].tolist() for each in {owner}.get_output_details()])', shows=str(shapes))
        return result

    def _runner(self, function: Any, interpreter: Any, *key: str) -> Any:
        name = self._name("runner")
        with self._call(f"{name} = {self._named_as(interpreter)}.get_signature_runner({', '.join(map(repr, key))})"):
            result = function(interpreter, *key)
        self._named.append((result, name))
        return result

    def _run(self, function: Any, runner: Any, /, **inputs: Any) -> Any:
        name = self._name("results")
        arguments = ", ".join(f"{key}={expression(value)}" for key, value in inputs.items())
        with self._call(f"{name} = {self._named_as(runner)}({arguments})"):
            result = function(runner, **inputs)
        self._line(f"print({name})")
        return result

    def _differ(self, function: Any, results: Any, *expected: Any, tolerance: float = 1e-4) -> Any:
        for result, wanted in zip(results, expected, strict=True):
            name, number = self._named_as(result), self._named_as(wanted) or self._of_inputs(np.asarray(wanted))
            if name is None:  # computed of what was recorded
                name = self._name("computed")
                product = self._product(result)
                self._line(f"{name} = {product or expression(np.asarray(result))}", standalone=bool(product))
            close = f"np.allclose({name}, expected, {tolerance}, {tolerance}, equal_nan=True)"
            self._line(f"expected = {number}")
            self._line('print("expected:", expected, np.shape(expected))')
            self._line(f'print("as expected:", np.shape({name}) == np.shape(expected) and {close})', verdict=True)
        return function(results, *expected, tolerance=tolerance)

    def _of_inputs(self, array: Any) -> str:
        """An expression of an array; of one with many elements, by what was an input."""
        for value, text in self._inputs if array.size > _FEW else []:
            for function in (np.sin, np.cos):
                if np.array_equal(function(value), array):
                    return f"np.{function.__name__}({text})"
        return expression(array)

    def _product(self, array: Any) -> str:
        """An expression of an array as the product of a result and a round number."""
        known: list[tuple[Any, str]] = [item for item in self._named if isinstance(item[0], np.ndarray)]
        for value, name in known:
            if value.shape == np.shape(array) and np.all(value):
                factor = float(f"{np.ravel(array / value)[0]:.3g}")
                if np.allclose(factor * value, array):
                    return f"{factor:g} * {name}"
        return ""

    def _is_refused(self, function: Any, reason: str, called: Callable[..., object], *arguments: Any) -> Any:
        refused = function(reason, called, *arguments)
        self._write(json.dumps({"refused": reason}))
        return refused


def _method(record: Callable[..., Any], function: Any) -> Any:
    """A method that is recorded; ``record`` takes the function that does it first."""

    def method(self: Any, /, *arguments: Any, **options: Any) -> Any:
        return record(function, self, *arguments, **options)

    return method


def _is_of_graph() -> bool:
    """Whether what is recorded was called by ``tests.ir.engine.faults.graph``, not by a reproducer itself."""
    frame = inspect.currentframe()
    while frame and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.endswith("graph.py")
