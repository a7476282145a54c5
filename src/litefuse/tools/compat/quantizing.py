"""The form of quantization and the samples that the attributes of a converter ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import SettingError
from litefuse.frontends.saved_model import TensorSpec
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import Quantization
from litefuse.tools.compat.opened_model import OpenedModel
from litefuse.tools.compat.spec import OpsSet, Optimize, dtype_name, listed, members

_INT16 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
_INTEGERS = frozenset({OpsSet.TFLITE_BUILTINS_INT8})
_FLOATING = frozenset({OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS})
_TYPES = frozenset({"int8", "float16", "float32"})
# The integers of inputs and outputs, by the form, and what ``Quantization.io`` calls them.
_IO: dict[str, dict[str, Any]] = {
    "int8": {"float32": False, "int8": True, "uint8": "uint8"},
    "int16": {"float32": False, "int16": True},
    "qat": {"float32": False, "int8": True},
}


def quantization_of(settings: Any, *, trained: bool) -> dict[str, Any]:
    """Returns the arguments of :func:`litefuse.convert` that quantize as a converter's attributes ask for.

    Args:
        settings: The converter.
        trained: Whether the model has fake-quantization nodes.

    Raises:
        SettingError: An attribute has a value that it cannot have, or they do not go together.
    """
    optimizations = members(Optimize, settings.optimizations, "optimizations")
    ops = members(OpsSet, settings.target_spec.supported_ops, "target_spec.supported_ops")
    types = _types(settings.target_spec.supported_types)
    if Optimize.EXPERIMENTAL_SPARSITY in optimizations:
        raise SettingError("EXPERIMENTAL_SPARSITY is not supported: weights are stored densely", hint="Leave it out.")
    if OpsSet.EXPERIMENTAL_STABLEHLO_OPS in ops:
        raise SettingError(
            "EXPERIMENTAL_STABLEHLO_OPS is not supported: the runtime executes no StableHLO ops", hint="Leave it out."
        )
    if ops == _INTEGERS and not types <= {"int8"}:
        raise SettingError(
            f"supported_ops are only of int8, and supported_types are {', '.join(sorted(types))}",
            hint="Leave supported_types out.",
        )
    if types == frozenset({"int8"}):
        ops = _INTEGERS
    form = _form(ops, types, has_samples=settings.representative_dataset is not None, trained=trained)
    if not optimizations:
        form = None
    io = _quantized_io(form, settings.inference_input_type, settings.inference_output_type)
    if form is None:
        return {}
    is_integer = form in _IO and not ops & _FLOATING
    quantization = Quantization(
        form,
        io=io,
        require_integer=is_integer,
        granularity="tensor" if settings._experimental_disable_per_channel else "channel",  # noqa: SLF001  its name
    )
    # LiteRT's loops compute in floating point, its op for LSTMs in integers.
    return {"quantize": quantization, **({"rnn": "fused"} if is_integer and form == "int8" else {})}


def _form(
    ops: frozenset[OpsSet], types: frozenset[str], *, has_samples: bool, trained: bool
) -> QuantizationForm | None:
    """Returns the form for a model that is to be quantized; None if its types are those of floating point."""
    if OpsSet.TFLITE_BUILTINS_INT8 in ops and not has_samples and not trained:
        raise SettingError(
            "a model of int8 needs a representative_dataset, from which it gets the ranges of its activations",
            hint="Set representative_dataset to a function that yields samples of the inputs.",
        )
    if _INT16 in ops:
        if trained:
            raise SettingError(
                "a model with fake-quantization nodes becomes one of int8 activations, not of int16",
                hint="Leave the int16 activations out of supported_ops.",
            )
        if not has_samples:
            raise SettingError(
                "activations of int16 need a representative_dataset, from which they get their ranges",
                hint="Set representative_dataset to a function that yields samples of the inputs.",
            )
        return "int16"
    if trained:
        return "qat"
    if not types or "int8" in types:
        return "int8" if has_samples else "dynamic"
    return "float16" if "float16" in types else None


def _types(given: object) -> frozenset[str]:
    names = frozenset(dtype_name(dtype, "supported_types") for dtype in listed(given, "supported_types"))
    for name in sorted(names - _TYPES):
        hint = "For int16 activations, set supported_ops to them." if name == "int16" else ""
        raise SettingError(f"supported_types has no {name!r}", hint=hint or f"Choose from {', '.join(sorted(_TYPES))}.")
    return names


def _quantized_io(form: str | None, of_inputs: object, of_outputs: object) -> Any:
    """Returns ``Quantization.io`` for the types of inputs and outputs."""
    known = _IO.get(form or "", {"float32": False})
    named: list[Any] = []
    for attribute, given in (("inference_input_type", of_inputs), ("inference_output_type", of_outputs)):
        name = "float32" if given is None else dtype_name(given, attribute)
        if name not in known:
            why = "float32 where activations are not integers" if form not in _IO else ", ".join(known)
            raise SettingError(
                f"{attribute} must be {why}, and is {name}",
                hint="" if form in _IO else "Set optimizations and representative_dataset for integer activations.",
            )
        named.append(known[name])
    return named[0] if named[0] == named[1] else tuple(named)


def dataset_of(given: Any, model: OpenedModel) -> Any:
    """Returns a dataset for :func:`litefuse.convert`, whose samples name their inputs.

    A list of several arrays is in the order of the inputs of a frozen graph. For other models, arrays are told apart by
    their shapes and dtypes: TFLiteConverter takes the inputs of a signature in the order of a hash, and programs follow
    it. Where these do not tell, arrays have the order of the model's inputs, unless the model is a SavedModel.

    Args:
        given: A function that returns samples, a ``RepresentativeDataset`` of such a function, or what
            :func:`litefuse.convert` takes.
        model: The model.

    Raises:
        SettingError: When samples are read: a list has another length, or does not tell which array is for which input.
    """
    dataset = getattr(given, "input_gen", given)
    if isinstance(dataset, str | os.PathLike):
        return cast("Any", dataset)
    samples: Callable[[], Any] = dataset if callable(dataset) else lambda: dataset

    def named() -> Any:
        returned = samples()
        if not hasattr(returned, "__iter__") or hasattr(returned, "keys"):
            return returned  # litefuse.convert says what is wrong with it
        return _named(returned, model)

    return named


def _named(samples: Any, model: OpenedModel) -> Iterator[Any]:
    only = next(iter(model.inputs.values())) if len(model.inputs) == 1 else None
    for number, sample in enumerate(samples, 1):
        match sample:
            case (str() as key, inputs):
                yield key, _by_name(inputs, model.inputs.get(key), number, order=model.order)
            case _:
                yield _by_name(sample, only, number, order=model.order)


def _by_name(sample: Any, inputs: Sequence[TensorSpec] | None, number: int, *, order: str) -> Any:
    if inputs is None or not isinstance(sample, list | tuple):
        return sample  # pyright: ignore[reportUnknownVariableType]
    given = cast("Sequence[Any]", sample)
    if len(given) == len(inputs) == 1:
        return given
    arrays = [np.asarray(array) for array in given]
    names = ", ".join(input_.name for input_ in inputs)
    if len(arrays) != len(inputs):
        raise SettingError(
            f"sample {number} of representative_dataset has {len(arrays)} arrays, and the model {len(inputs)} inputs",
            hint=f"The inputs are {names}.",
        )
    in_order = {spec.name: array for spec, array in zip(inputs, arrays, strict=True)}
    if order == "caller":
        return in_order
    named = _assigned(arrays, inputs)
    if named is None and order == "model" and all(map(_fits, arrays, inputs)):
        return in_order
    if named is None:
        raise SettingError(
            f"sample {number} of representative_dataset is a list, and its arrays fit the inputs in several ways, "
            "or in none",
            hint=f"Yield mappings from the names of the inputs to arrays: {names}.",
        )
    return named


def _assigned(
    arrays: Sequence[npt.NDArray[Any]], inputs: Sequence[TensorSpec]
) -> Mapping[str, npt.NDArray[Any]] | None:
    """Returns the array of each input if there is one way to assign them; else None.

    Where there is one way only, an array or an input is left with one that it fits, at each step.
    """
    fits = {spec.name: {index for index, array in enumerate(arrays) if _fits(array, spec)} for spec in inputs}
    assigned: dict[str, npt.NDArray[Any]] = {}
    while fits:
        takers: dict[int, list[str]] = {}
        for name, those in fits.items():
            for index in those:
                takers.setdefault(index, []).append(name)
        forced = [(name, next(iter(those))) for name, those in fits.items() if len(those) == 1]
        forced += [(names[0], index) for index, names in takers.items() if len(names) == 1]
        if not forced:
            return None
        name, index = forced[0]
        assigned[name] = arrays[index]
        del fits[name]
        for those in fits.values():
            those.discard(index)
    return assigned


def _fits(array: npt.NDArray[Any], spec: TensorSpec) -> bool:
    is_text = array.dtype.kind in "OSU"
    if is_text or str(spec.dtype) == "string":
        same_kind = is_text and str(spec.dtype) == "string"
    else:
        try:
            same_kind = np.can_cast(array.dtype, np.dtype(str(spec.dtype)), "same_kind")
        except TypeError:  # a dtype that numpy lacks
            same_kind = True
    if spec.shape is None or not same_kind:
        return same_kind
    return len(spec.shape) == array.ndim and all(
        size in (None, given) for size, given in zip(spec.shape, array.shape, strict=True)
    )
