"""Base of the converters for TensorFlow 2 and 1: attributes, and the conversion."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from litefuse.conversion.api import convert
from litefuse.errors import QuantizationError, SettingError, UnsupportedOpsError
from litefuse.frontends.keras_file import is_keras_file
from litefuse.frontends.source_of import source_of
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.conversion import Graph, Limits
from litefuse.support.options.quantization import Quantization
from litefuse.tools.compat.opened_model import open_model
from litefuse.tools.compat.quantizing import dataset_of, quantization_of
from litefuse.tools.compat.settings import MAPPED, NEEDLESS, REFUSED, refuse_changed, unknown_setting
from litefuse.tools.compat.spec import TargetSpec, dtype_name

if TYPE_CHECKING:
    from litefuse.support.report import Report
    from litefuse.support.result import ConversionResult


class Converter:
    """A converter with TFLiteConverter's attributes.

    Attributes:
        optimizations: Members of :class:`~litefuse.compat.Optimize`, or of TensorFlow's, or their names.
        representative_dataset: A function that yields samples, a :class:`~litefuse.compat.RepresentativeDataset` of
            one, or what :func:`litefuse.convert` takes. A sample is a list of arrays in the order of the model's
            inputs, a mapping from their names, or a pair of a signature's key and a mapping.
        target_spec: What the device has; see :class:`~litefuse.compat.TargetSpec`. TensorFlow's is taken, too.
        inference_input_type: The data type of inputs of integer models: float32, int8, uint8 or int16.
        inference_output_type: The data type of their outputs.
        allow_custom_ops: Whether custom ops may take the place of ops that LiteRT lacks; or the names of those that do.
        convert_options: Other arguments of :func:`litefuse.convert`, by their names.
        result: The result of the last conversion; None before.
    """

    optimizations: Any
    representative_dataset: Any
    target_spec: Any
    inference_input_type: Any
    inference_output_type: Any
    allow_custom_ops: bool
    ir_dump_dir: Any
    convert_options: dict[str, Any]
    result: ConversionResult | None

    _mapped: ClassVar[Mapping[str, Any]] = MAPPED
    _needless: ClassVar[Mapping[str, Any]] = NEEDLESS
    _refused: ClassVar[Mapping[str, Any]] = REFUSED
    _own: ClassVar[frozenset[str]] = frozenset({"convert_options", "result", "_model", "_kept", "_arguments"})
    _arguments: dict[str, Any]

    def __init__(self, model: object, kept: object = None, **arguments: Any) -> None:
        """Sets all attributes to their defaults.

        Args:
            model: What is converted.
            kept: An object that must live as long as the model, such as the owner of its variables.
            **arguments: Arguments of :func:`litefuse.convert` that come with the model.
        """
        self._model, self._kept, self._arguments = model, kept, arguments
        for defaults in (self._mapped, self._needless, self._refused):
            vars(self).update({name: dict(value) if value == {} else value for name, value in defaults.items()})
        self.optimizations = []
        self.target_spec = TargetSpec()
        self.convert_options = {}
        self.result = None

    def __setattr__(self, name: str, value: object) -> None:
        known = {*self._mapped, *self._needless, *self._refused, *self._own}
        if name not in known and not isinstance(getattr(type(self), name, None), property):
            raise unknown_setting(name, known)
        super().__setattr__(name, value)

    @property
    def report(self) -> Report:
        """The report of the last conversion.

        Raises:
            SettingError: There was none.
        """
        if self.result is None:
            raise SettingError("nothing has been converted yet", hint="Call convert() first.")
        return self.result.report

    def convert(self) -> bytes:
        """Converts the model.

        Returns:
            The LiteRT model. ``result`` has it too, as a file that can be moved, with the report.

        Raises:
            SettingError: An attribute has a value that it cannot have, or they do not go together.
            LitefuseError: See :func:`litefuse.convert`.
        """
        self._check_refused()
        options: dict[str, Any] = {**self._arguments, **self._common_options()}
        source = source_of(self._model)
        on_step: Callable[[str], None] = self.convert_options.get("on_step") or (lambda _: None)
        with make_temporary_folder(Limits.of(self.convert_options.get("limits"), "limits").temporary_folder) as folder:
            path = source.folder(Path(folder, "saved_model"))
            with source.opened(path, on_step) as timings:
                options |= self._quantization(path)
                try:
                    result = convert(path, **(options | self.convert_options))
                except (QuantizationError, UnsupportedOpsError) as error:
                    _explain(error, options)
                    raise
                size = source.size(path)
        report = result.report
        result.report = replace(
            report,
            source=source.name,
            source_size=size,
            seconds=report.seconds + sum(timings.values()),
            timings={**timings, **report.timings},
        )
        self.result = result
        return result.model_bytes

    def _check_refused(self) -> None:
        for name, default in self._refused.items():
            value = getattr(self, name)
            if value is not None and value != default and not _is_dtype(value, default):
                raise refuse_changed(name, value)
        spec = self.target_spec
        if not hasattr(spec, "supported_ops"):
            raise SettingError(f"target_spec is {spec!r}", hint="Set it to a TargetSpec().")
        for name in ("_experimental_custom_op_registerers", "_experimental_supported_accumulation_type"):
            if value := getattr(spec, name, None):
                raise refuse_changed(name, value)
        if spec.experimental_select_user_tf_ops:
            raise refuse_changed("experimental_select_user_tf_ops", spec.experimental_select_user_tf_ops)

    def _common_options(self) -> dict[str, Any]:
        backends: Any = self.target_spec.experimental_supported_backends
        options: dict[str, Any] = {}
        allowed: Any = self.allow_custom_ops
        if isinstance(allowed, str | list | tuple | set | frozenset):  # of names
            options["allow_custom_ops"] = allowed
        else:
            options["allow_custom_ops"] = True if allowed else "never"
        if backends:
            if isinstance(backends, str) or {*backends} != {"GPU"}:
                raise SettingError(
                    f"experimental_supported_backends is {backends!r}",
                    hint="Set it to ['GPU'], or leave it out for CPUs.",
                )
            options["target"] = "gpu"
        if self.ir_dump_dir is not None:
            options["debug"] = self.ir_dump_dir
        return options

    def _quantization(self, path: Path) -> dict[str, Any]:
        given = self.representative_dataset
        if not self.optimizations:
            if given is not None:
                warnings.warn(
                    "optimizations is empty, so nothing is quantized: set it to [Optimize.DEFAULT]", stacklevel=3
                )
            return quantization_of(self, trained=False)
        model: Any = self._model
        has_order = not isinstance(model, str | os.PathLike) or is_keras_file(Path(os.fspath(cast("str", model))))
        graph: Graph = self._arguments.get("graph") or Graph()
        opened = open_model(
            path,
            tags=graph.tags,
            signatures=self._arguments.get("signatures"),
            input_arrays=None if graph.inputs is None else [*graph.inputs],
            output_arrays=None if graph.outputs is None else [*graph.outputs],
            has_order=has_order,
        )
        options = quantization_of(self, trained=opened.trained)
        quantization: Quantization | None = options.get("quantize")
        if quantization is not None and quantization.form in {"int8", "int16"}:
            options["quantize"] = replace(quantization, samples=dataset_of(given, opened))
        return options


def _is_dtype(value: object, default: object) -> bool:
    """Whether a value is the data type that is the default, in another library's form."""
    try:
        return isinstance(default, str) and dtype_name(value, "") == default
    except SettingError:
        return False


def _explain(error: QuantizationError | UnsupportedOpsError, options: Mapping[str, Any]) -> None:
    """Says in an error of a conversion with these arguments what attributes there are for it."""
    if isinstance(error, QuantizationError):
        needs_integers = Quantization.of(options.get("quantize"), "quantize").require_integer
        way = "Add OpsSet.TFLITE_BUILTINS to target_spec.supported_ops." if needs_integers else ""
    else:
        way = "LiteRT does not run TensorFlow ops, so SELECT_TF_OPS is not supported."
        if options.get("allow_custom_ops") == "never":
            way += (
                " Set converter.allow_custom_ops = True, and give the interpreter kernels, as litefuse.Interpreter has."
            )
    error.hint = f"{way}\n{error.hint}".strip()
