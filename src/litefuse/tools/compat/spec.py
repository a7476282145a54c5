"""Values of a converter's attributes: enums, specifications, data types. None of them needs TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from enum import Enum
from typing import Any, TypeVar, cast

from litefuse.errors import SettingError


class Optimize(Enum):
    """Goal of the optimization; any but ``EXPERIMENTAL_SPARSITY`` quantizes."""

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"

    def __str__(self) -> str:
        return self.value


class OpsSet(Enum):
    """A set of ops that a model may have."""

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"

    def __str__(self) -> str:
        return self.value


class TargetSpec:
    """Ops and types that the device supports.

    Attributes:
        supported_ops: Members of :class:`OpsSet`, or of TensorFlow's, or their names.
        supported_types: Data types: of TensorFlow, of numpy, or their names.
        experimental_select_user_tf_ops: Names of TensorFlow ops for Select TF ops, which there are none of here.
        experimental_supported_backends: Names of backends: ``GPU``.
    """

    supported_ops: Collection[Any]
    supported_types: Collection[Any]
    experimental_select_user_tf_ops: Collection[str]
    experimental_supported_backends: Collection[str] | None

    def __init__(
        self,
        supported_ops: Collection[Any] | None = None,
        supported_types: Collection[Any] | None = None,
        experimental_select_user_tf_ops: Collection[str] | None = None,
        experimental_supported_backends: Collection[str] | None = None,
    ) -> None:
        self.supported_ops = {OpsSet.TFLITE_BUILTINS} if supported_ops is None else supported_ops
        self.supported_types = set() if supported_types is None else supported_types
        self.experimental_select_user_tf_ops = (
            set() if experimental_select_user_tf_ops is None else experimental_select_user_tf_ops
        )
        self.experimental_supported_backends = experimental_supported_backends
        self._experimental_custom_op_registerers: list[Any] = []
        self._experimental_supported_accumulation_type: Any = None


class RepresentativeDataset:
    """Samples of a model's inputs.

    Attributes:
        input_gen: A function that returns samples: lists of arrays, mappings from names to arrays, or pairs of a
            signature's key and a mapping.
    """

    def __init__(self, input_gen: Callable[[], Iterable[Any]]) -> None:
        self.input_gen = input_gen


_Member = TypeVar("_Member", bound=Enum)


def listed(given: object, attribute: str) -> list[object]:
    """Returns what is in a collection that an attribute has.

    Raises:
        SettingError: It is one value, or none.
    """
    if isinstance(given, str | Enum) or not isinstance(given, Iterable):
        hint = "Set it to [] for none." if given is None else "Put it into a list."
        raise SettingError(f"{attribute} takes a list, not {given!r}", hint=hint)
    return list(cast("Iterable[object]", given))


def members(kind: type[_Member], given: object, attribute: str) -> frozenset[_Member]:
    """Returns members of an enum that are given as such, as members of TensorFlow's enum, or by their names.

    Args:
        kind: The enum.
        given: A collection of them.
        attribute: The attribute in errors.

    Raises:
        SettingError: It is not a collection, or has something else in it.
    """
    known = kind.__members__
    names = [str(getattr(member, "name", member)) for member in listed(given, attribute)]
    if wrong := [name for name in names if name not in known]:
        raise SettingError(f"{attribute} has no {wrong[0]!r}", hint=f"Choose from {', '.join(known)}.")
    return frozenset(known[name] for name in names)


def dtype_name(given: object, attribute: str) -> str:
    """Returns the name of a data type of TensorFlow, numpy or JAX, or of a string with it.

    Raises:
        SettingError: It is none.
    """
    import numpy as np

    name: object = given if isinstance(given, str) else getattr(given, "name", None)
    try:
        dtype: np.dtype[Any] = np.dtype(name if isinstance(name, str) else cast("Any", given))
        return str(dtype.name)  # pyright: ignore[reportUnknownArgumentType]  numpy has no type for it
    except (TypeError, ValueError):
        if name == "bfloat16":
            return "bfloat16"
    raise SettingError(f"{attribute} is {given!r}, which is not a data type", hint="Set it to 'int8', for example.")
