"""The stock LiteRT interpreter, with kernels written in Python."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from ai_edge_litert import interpreter as litert

from litefuse.errors import InterpreterError, KernelError
from litefuse.litert.runtime.bindings import PreparedCall, ReadingBinding, StepsOfRuntime, read_tensor, run
from litefuse.litert.runtime.model_content import check, chosen_signature, path_and_content
from litefuse.litert.runtime.start_up_lines import silence_start_up_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from litefuse.litert.runtime.custom_op import CustomOp
    from litefuse.litert.runtime.kernel_delegates import KernelDelegates

    _Outputs = dict[str, npt.NDArray[Any]]
    _Guard = Callable[[Callable[[], _Outputs]], _Outputs]

Result = TypeVar("Result")

# The prefix of the native kernels' messages.
_NATIVE_ERROR = re.compile(r"litefuse kernel (?P<op>[^,]*), node (?P<node>[^\n]*?): (?P<message>[^\n]*)")

# XNNPACK packs the weights of its ops into memory of its own: for larger files, LiteRT's own kernels run instead.
_PACKED_BYTES = 1 << 28


def without_large_copies(path: Path, *, xnnpack: bool = True) -> dict[str, Any]:
    """Returns the options of an interpreter that has XNNPACK, which copies weights, only for a file that is not large.

    Args:
        path: The file.
        xnnpack: Whether it has XNNPACK then.
    """
    if xnnpack and path.stat().st_size <= _PACKED_BYTES:
        return {}
    plain = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return {"experimental_op_resolver_type": plain, "num_threads": os.cpu_count()}


class Interpreter(litert.Interpreter):
    """``ai_edge_litert.interpreter.Interpreter`` that also runs custom ops in Python.

    A custom op runs with the kernel given in ``custom_ops``, else with the one registered with ``litefuse.custom_op``,
    in the pack ``litefuse.kernels`` (its native form if that is installed), or in an installed package with an entry
    point of the group ``litefuse``. A StableHLO composite that has a kernel runs with it instead of its decomposition.
    Nodes of an op that XNNPACK runs too are left to it where the pack's kernel does not take their form.

    Results without elements are read as empty arrays, where the runtime's own interpreter raises.

    It runs in this process, which ends if the runtime or a native kernel crashes. ``litefuse run``, ``litefuse verify``
    and ``litefuse.verify_model`` run models in a child process.

    An exception that a kernel raises propagates from ``allocate_tensors``, ``invoke`` and signature runners, with a
    note of the op and the node.

    Args:
        model_path: The ``.tflite`` file, or its content as bytes.
        model_content: Its content, in place of a path.
        custom_ops: Kernels to use before all others: ``CustomOp`` classes, or paths of shared libraries that are
            external delegates of LiteRT. If it is given and empty, the pack ``litefuse.kernels`` is not used.
        num_threads: How many threads the runtime's own kernels use.
        experimental_delegates: Further delegates; they are offered the nodes that the kernels leave.
        **options: The other arguments of ``ai_edge_litert.interpreter.Interpreter``.

    Raises:
        InterpreterError: The file is missing, is not a LiteRT model, or is damaged.
        KernelError: A kernel is incomplete, or does not support the node's inputs and options.
    """

    def __init__(
        self,
        model_path: str | os.PathLike[str] | bytes | bytearray | memoryview | None = None,
        model_content: bytes | bytearray | memoryview | None = None,
        *,
        custom_ops: Iterable[type[CustomOp] | str | os.PathLike[str]] | None = None,
        num_threads: int | None = None,
        experimental_delegates: Sequence[Any] | None = None,
        **options: Any,
    ) -> None:
        silence_start_up_lines()
        path, content = path_and_content(model_path, model_content)
        self._where = path or "model content"
        has_kernels = check(path, content, self._where)
        self._reported = ""
        self._kernel_delegates: KernelDelegates | None = None
        delegates = [*(experimental_delegates or ())]
        if has_kernels or custom_ops:
            from litefuse.litert.runtime.kernel_delegates import kernel_delegates

            self._kernel_delegates = kernel_delegates(custom_ops)
            delegates = [*self._kernel_delegates.delegates, *delegates]

        def load() -> None:
            super(Interpreter, self).__init__(path, content, delegates, num_threads, **options)

        self._run(load, self._explain_loading)

    def _run(self, function: Callable[[], Result], explain: Callable[[Exception], Exception]) -> Result:
        """Calls a function that makes the runtime do something; most models have no op for kernels."""
        kernels = self._kernel_delegates
        return run(function, explain) if kernels is None else kernels.python.run(function, explain)

    def allocate_tensors(self) -> None:
        """Plans the memory, and runs the kernels' ``prepare``. Needed before the first ``invoke`` and after a resize.

        Raises:
            MissingKernelError: The model has custom ops without a kernel; the message names them all.
        """
        self._run(super().allocate_tensors, self._explain_running)

    def invoke(self) -> None:
        """Runs the model once."""
        self._run(super().invoke, self._explain_running)

    def announce_steps(self, announce: Callable[[str], None] | None) -> None:
        """Sets a function to call with each step of the runtime before it begins; None for no function."""
        if isinstance(self._interpreter, StepsOfRuntime):
            self._interpreter.announce = announce
        elif announce is not None:
            self._interpreter: Any = StepsOfRuntime(self._interpreter, announce)

    def set_tensor(self, tensor_index: int, value: npt.ArrayLike) -> None:
        """Sets an input; strings are arrays of ``bytes`` or ``str``, written as UTF-8, scalar ones too."""
        super().set_tensor(tensor_index, _with_strings(value))

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> npt.NDArray[Any]:
        """Returns a copy of a tensor; an empty array if it has no elements."""
        return read_tensor(self._interpreter, tensor_index, subgraph_index)

    def get_signature_runner(self, signature_key: str | None = None) -> SignatureRunner:
        """Returns a function that runs one signature: it takes arrays by input name, and returns a dictionary.

        Args:
            signature_key: The signature; may be omitted if there is exactly one.

        Raises:
            InterpreterError: No such signature, or there are several and none was named.
        """
        signature_key = chosen_signature(signature_key, list(self.get_signature_list()), self._where)
        if not signature_key:
            raise InterpreterError(
                "the signature has the key '', which signature runners do not support",
                where=self._where,
                hint="Use set_tensor, invoke and get_tensor of the interpreter.",
            )
        return SignatureRunner(self, signature_key, lambda call: self._run(call, self._explain_running))

    def _repr_html_(self) -> str:
        from litefuse.litert.runtime.input_specs import interpreter_sections
        from litefuse.support.report.html import sections_html
        from litefuse.support.report.sections import Section

        return sections_html([Section(self._where), *interpreter_sections(self)])

    def prepare_call(self, signature_key: str | None, inputs: Mapping[str, npt.NDArray[Any]]) -> PreparedCall:
        """Plans the memory for a call of one signature, which can then be repeated without copying the outputs.

        Args:
            signature_key: The signature; None for the first subgraph of a model that has none, whose inputs have the
                names of tensors.
            inputs: An array for each of its inputs, by their names.

        Raises:
            MissingKernelError: The model has custom ops without a kernel.
        """
        if signature_key is None:
            subgraph = 0
            tensors = {detail["name"]: detail["index"] for detail in self.get_input_details()}
        else:
            subgraph = self._interpreter.GetSubgraphIndexFromSignature(signature_key)
            details = self.get_signature_runner(signature_key).get_input_details()
            tensors = {name: detail["index"] for name, detail in details.items()}
        given = {name: _with_strings(value) for name, value in inputs.items()}
        return PreparedCall(
            self._interpreter, subgraph, tensors, given, lambda call: self._run(call, self._explain_running)
        )

    def kernels_of_delegate(self, address: int) -> str | None:
        """Returns which of the kernels a delegate runs: ``Python``, ``litefuse`` or the name of a library's file.

        Args:
            address: The address of its ``TfLiteDelegate``.

        Returns:
            None if it is none of this interpreter's delegates of kernels.
        """
        return None if self._kernel_delegates is None else self._kernel_delegates.names_by_address().get(address)

    def _explain_loading(self, error: Exception) -> Exception:
        hint = "Is it a complete .tflite file, of this runtime's version or an older one?"
        return InterpreterError(_message(error), where=self._where, hint=hint)

    def _explain_running(self, error: Exception) -> Exception:
        # Only the new part says what happened: fault `repeated-messages`.
        message = _message(error)
        text = message.removeprefix(self._reported)
        self._reported = message
        if (native := _NATIVE_ERROR.search(text)) is not None:
            return KernelError(native["message"], where=f"custom op {native['op']}, node {native['node']!r}")
        if (kernels := self._kernel_delegates) is not None:
            for name, reason in kernels.python.left.items():
                if f"({name}) failed to prepare" in text:
                    return reason
            unresolved = list(kernels.python.unresolved)
            # Another delegate may run one of them: an op that is invoked has a kernel.
            if any(f"({name}) failed to prepare" in text for name in unresolved):
                from litefuse.litert.runtime.kernel_delegates import missing_kernels

                return missing_kernels(unresolved, self._where, kernels.names)
        return InterpreterError(text.strip(), where=self._where) if isinstance(error, UnicodeDecodeError) else error


class SignatureRunner(litert.SignatureRunner):
    """``ai_edge_litert.interpreter.SignatureRunner`` that raises the exceptions of kernels."""

    def __init__(self, interpreter: Interpreter, signature_key: str, guard: _Guard) -> None:
        super().__init__(interpreter, signature_key)
        self._interpreter_wrapper = ReadingBinding(self._interpreter_wrapper)
        self._guard = guard

    def __call__(self, /, **inputs: npt.NDArray[Any]) -> _Outputs:
        """Runs the signature with an array for each of its inputs, resized as needed; returns its outputs by name.

        Errors of the runtime also say which inputs do not fit the model.
        """
        if "self" in inputs:  # the name of the runner's own argument, in the runtime
            raise InterpreterError(
                "signature runners do not support an input named 'self'",
                hint="Use set_tensor, invoke and get_tensor of the interpreter.",
            )
        try:
            given = {name: _with_strings(value) for name, value in inputs.items()}
            return self._guard(lambda: super(SignatureRunner, self).__call__(**given))
        except Exception as error:
            from litefuse.litert.runtime.input_specs import misfits

            # A kernel's exception has a note; the inputs are not to blame for it.
            runtimes = type(error) in {AttributeError, RuntimeError, ValueError} and not hasattr(error, "__notes__")
            problems = misfits(self.get_input_details(), inputs) if runtimes else []
            if not problems:
                raise
            raise type(error)("\n".join([str(error).rstrip(), *problems])) from error


def _message(error: Exception) -> str:
    """Returns the runtime's message; one that is not UTF-8, as of a kernel, is raised as a decode error instead."""
    if isinstance(error, UnicodeDecodeError):
        return error.object.decode(errors="backslashreplace")
    return str(error)


def _with_strings(value: Any) -> Any:
    """Converts an array to the form that the runtime's bindings expect.

    Faults ``scalar-object`` and ``scalar-characters``; of a scalar string the bindings would use all bytes that numpy
    keeps for it, of which there is at least one.
    """
    if not isinstance(value, np.ndarray):
        return value
    array = cast("npt.NDArray[Any]", value)
    if array.dtype.kind in "OSU" and array.ndim == 0:
        text = array.item()
        data = text.encode() if isinstance(text, str) else text
        if not isinstance(data, bytes):
            raise InterpreterError(f"an input is an object {text!r}", hint="Strings are bytes or str.")
        return np.ndarray((), f"S{len(data)}", data)
    return np.char.encode(array, "utf-8") if array.dtype.kind == "U" else array
