"""The converted model of a verification: the inputs of its signatures, and their outputs when they are called."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.original import Arrays, Call
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.input_specs import InputSpec, input_specs
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.scales import dequantized, is_quantized, quantized


class ConvertedModel:
    """A LiteRT model with signatures, which takes and returns real numbers where the file has quantized integers.

    Args:
        model: Its file, or its content.
        signatures: The keys of the signatures to call; None for all.
        custom_ops: Kernels to use before all others.
        announce: Called with the steps of the runtime.
        delegates: Whether LiteRT may use its default delegates.

    Raises:
        InterpreterError: It is not a LiteRT model, or lacks such a signature.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | bytes,
        signatures: Iterable[str] | None,
        custom_ops: Iterable[type[CustomOp] | str | os.PathLike[str]] = (),
        announce: Callable[[str], None] = lambda _: None,
        *,
        delegates: bool = True,
    ) -> None:
        self._announce = announce
        self._delegates = delegates
        self.model = model if isinstance(model, bytes) else os.fsdecode(model)
        self._custom_ops = tuple(custom_ops)
        interpreter = self.interpreter()
        keys = list(cast("Mapping[str, Any]", interpreter.get_signature_list()))
        chosen = keys if signatures is None else list(signatures)
        missing = [key for key in chosen if key not in keys]
        if missing or not chosen:
            what = f"no signature {missing[0]!r}" if missing else "no signature"
            raise InterpreterError(f"the model has {what}", hint=f"It has: {', '.join(keys) or 'none'}.")
        self.specs: dict[str, list[InputSpec]] = {}
        self._keys = keys
        self.outputs: dict[str, tuple[str, ...]] = {}
        self.dtypes: dict[tuple[str, str], str] = {}
        self._takes: dict[str, Mapping[str, Mapping[str, Any]]] = {}
        for key in chosen:
            runner = interpreter.get_signature_runner(key)
            takes = cast("Mapping[str, Mapping[str, Any]]", runner.get_input_details())
            self._takes[key] = takes
            self.specs[key] = [_real(spec, takes[spec.name]) for spec in input_specs(interpreter, key)]
            gives = cast("Mapping[str, Mapping[str, Any]]", runner.get_output_details())
            self.outputs[key] = tuple(gives)
            for name, detail in gives.items():
                if is_quantized(detail):
                    self.dtypes[key, name] = str(np.dtype(detail["dtype"]))

    def every_spec(self) -> dict[str, list[InputSpec]]:
        """Returns the inputs of all signatures of the file, called or not."""
        interpreter, every = self.interpreter(), dict(self.specs)
        for key in self._keys:
            if key not in every:
                takes = cast("Mapping[str, Any]", interpreter.get_signature_runner(key).get_input_details())
                every[key] = [_real(spec, takes[spec.name]) for spec in input_specs(interpreter, key)]
        return every

    def call(self, calls: Sequence[Call]) -> list[Arrays]:
        """Returns the outputs of consecutive calls, beginning with the state of a new interpreter.

        Raises:
            LitefuseError: The runtime or a kernel refuses one of them.
        """
        return [*map(self.new_round(), calls)]

    def new_round(self, interpreter: Interpreter | None = None) -> Callable[[Call], Arrays]:
        """Returns a function that calls a new or given interpreter; it raises what :meth:`call` raises."""
        current = interpreter or self.interpreter()

        def call(call: Call) -> Arrays:
            nonlocal current
            signature = call.signature
            current.announce_steps(lambda step: self._announce(f"{step}, signature {signature!r}"))
            try:
                return _called(current, call)
            except LitefuseError:
                if call.kind is None:
                    raise
                current = self.interpreter()  # the sizes of its tensors may not go together
                return {}

        return call

    def real(self, signature: str, inputs: Arrays) -> Arrays:
        """Returns the inputs of a signature as real numbers where the file has quantized integers."""
        return {name: _as_real(value, self._takes[signature][name]) for name, value in inputs.items()}

    def interpreter(self, model: str | bytes | None = None) -> Interpreter:
        """Returns a new interpreter of the model, or of a copy of it, with the same kernels."""
        given = self.model if model is None else model
        if self._delegates:
            return Interpreter(given, custom_ops=self._custom_ops or None)
        from ai_edge_litert.interpreter import OpResolverType

        plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        return Interpreter(given, custom_ops=self._custom_ops or None, experimental_op_resolver_type=plain)


def _real(spec: InputSpec, detail: Mapping[str, Any]) -> InputSpec:
    return InputSpec(spec.name, np.dtype(np.float32), spec.shape) if is_quantized(detail) else spec


def _as_real(value: npt.NDArray[Any], detail: Mapping[str, Any]) -> npt.NDArray[Any]:
    return dequantized(value, detail).astype(np.float32) if is_quantized(detail) else value


def _called(interpreter: Interpreter, call: Call) -> Arrays:
    runner = interpreter.get_signature_runner(call.signature)
    takes = cast("Mapping[str, Mapping[str, Any]]", runner.get_input_details())
    gives = cast("Mapping[str, Mapping[str, Any]]", runner.get_output_details())
    try:
        outputs = runner(**{name: quantized(value, takes[name]) for name, value in call.inputs.items()})
    except LitefuseError:
        raise
    except Exception as error:  # of the runtime, or whatever a kernel raises
        raise InterpreterError(
            f"the model does not run on {call.described}: {type(error).__name__}: {error}",
            where=f"signature {call.signature!r}",
            hint="Pass inputs that it accepts, or their shapes (--inputs, --shape).",
        ) from error
    return {name: call.seen(dequantized(np.array(value), gives[name])) for name, value in outputs.items()}
