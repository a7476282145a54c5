"""The form of quantization that the attributes of a converter ask for."""

from __future__ import annotations

from typing import Any

from litefuse.errors import SettingError
from litefuse.support.options.conversion import Quantization
from litefuse.support.options.forms import QuantizationForm
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
