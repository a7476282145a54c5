"""A model in its process: its kernels, the inputs of its calls, and the runtime that makes them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.inputs.model_inputs import Manner, ModelInputs
from litefuse.litert.runtime.bindings import PreparedCall
from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.input_specs import fit_inputs, input_specs, named_inputs, no_input
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.loading import load_kernels
from litefuse.litert.runtime.scales import quantized
from litefuse.litert.runtime.transfer import unpickle_kernels
from litefuse.support.plug_ins.entry_points import what_was_raised
from litefuse.tools.benchmarking.jobs import Arrays, ModelJob


def import_kernels(job: ModelJob, announce: Callable[[str], None]) -> None:
    """Registers the kernels of a job in this process, for all its models.

    Raises:
        LitefuseError: A kernel cannot be imported.
    """
    if job.registered or job.kernel_modules or job.custom_ops:
        announce("import the kernels")
    unpickle_kernels(job.registered or {})
    load_kernels(job.kernel_modules)


def inputs_of(job: ModelJob) -> Arrays:
    """Returns the inputs of a job's calls: those that are given, or drawn ones.

    Raises:
        InterpreterError: An input is missing, unknown or does not fit.
    """
    if job.inputs is not None:
        interpreter = _interpreter(job, ())
        specs = input_specs(interpreter, job.signature)
        details = _details(interpreter, job.signature)
        given = named_inputs(job.inputs, specs, "inputs")
        real = {name: quantized(value, details[name]) if name in details else value for name, value in given.items()}
        return fit_inputs(real, specs, "the inputs lack", "inputs")
    key = job.signature or ""
    read = ModelInputs(job.model) if isinstance(job.model, bytes) else ModelInputs.of_file(job.model)
    given = job.shapes or {}
    if unknown := sorted(given.keys() - read.signatures[key].keys()):
        raise no_input(unknown, input_specs(_interpreter(job, ()), job.signature))
    shapes = read.shapes(key, batch=1, size=job.size, given=given)
    return read.drawer(key, Random(job.seed)).draw(shapes, Manner(limit=job.limit))


class OpenedModel:
    """A model that was loaded, with memory planned for its inputs.

    Args:
        job: The model and its signature.
        inputs: The inputs of the calls.
        announce: Called with each step when it begins.
        delegates: More delegates, which are offered the nodes that kernels leave.

    Raises:
        LitefuseError: The model cannot be loaded, or does not take the inputs.
    """

    def __init__(
        self,
        job: ModelJob,
        inputs: Arrays,
        announce: Callable[[str], None],
        delegates: Sequence[Any] = (),
    ) -> None:
        self._where = "model content" if isinstance(job.model, bytes) else job.model
        self._described = ", ".join(f"{name} {list(value.shape)}" for name, value in inputs.items()) or "no inputs"
        announce("load the model")
        self.interpreter = _interpreter(job, delegates)
        announce("allocate the tensors")
        self._call: PreparedCall = self._guarded(lambda: self.interpreter.prepare_call(job.signature, inputs))

    def set_inputs(self) -> None:
        """Copies the inputs into the runtime's memory, from where ops may have overwritten them.

        Raises:
            LitefuseError: The model does not take them.
        """
        self._guarded(self._call.set_inputs)

    def invoke(self) -> None:
        """Runs the signature.

        Raises:
            LitefuseError: The model, or a kernel, fails.
        """
        self._guarded(self._call.invoke)

    def _guarded(self, run: Callable[[], Any]) -> Any:
        try:
            return run()
        except LitefuseError:
            raise
        except Exception as error:  # from the runtime or a kernel
            where = ", ".join(getattr(error, "__notes__", ()))  # from a kernel: its op and node
            text = what_was_raised(error) if where else f"{type(error).__name__}: {error}"
            raise InterpreterError(
                f"the model does not run on {self._described}: {text}",
                where=where or self._where,
                hint="Pass inputs that it accepts, or their shapes (--inputs, --shape).",
            ) from error


def _details(interpreter: Interpreter, signature: str | None) -> Mapping[str, Mapping[str, Any]]:
    """Returns the runtime's details of the inputs of a signature, by their names."""
    if signature is None:
        return {detail["name"]: detail for detail in interpreter.get_input_details()}
    return interpreter.get_signature_runner(signature).get_input_details()


def _interpreter(job: ModelJob, delegates: Sequence[Any]) -> Interpreter:
    from ai_edge_litert.interpreter import OpResolverType

    custom_ops: list[type[CustomOp] | str] = [op if isinstance(op, str) else pickle.loads(op) for op in job.custom_ops]
    kind = OpResolverType.AUTO if job.xnnpack else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return Interpreter(
        job.model,
        custom_ops=custom_ops or None,
        num_threads=job.threads,
        experimental_delegates=delegates,
        experimental_op_resolver_type=kind,
    )
