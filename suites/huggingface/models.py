"""Models with random weights, and functions of them that become signatures. Runs beside TensorFlow."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from suites.cases import Arrays
from suites.huggingface.catalog import Kind, Plan
from suites.huggingface.families import FAMILIES, SMALL, Family
from suites.huggingface.inputs import Sizes, draw_inputs

Signature: TypeAlias = tuple[Callable[[Mapping[str, Any]], dict[str, Any]], list[Arrays]]
"""A function of inputs by name that returns outputs by name, and the inputs of some calls."""

_SPREAD = 0.05


def make_model(plan: Plan) -> Any:
    """Makes a model of random weights, none of which is zero or one."""
    tf: Any = importlib.import_module("tensorflow")
    tf.keras.utils.set_random_seed(1)
    family = FAMILIES[plan.family]
    transformers: Any = importlib.import_module("transformers")
    model: Any = getattr(transformers, f"TF{plan.family}{plan.head}")(_config(transformers, family, plan))
    model.build_in_name_scope()
    _randomize(model)
    return model


def _config(transformers: Any, family: Family, plan: Plan) -> Any:
    config: Any = getattr(transformers, f"{family.config}Config")
    names = inspect.signature(config.__init__).parameters
    small = {name: value for name, value in SMALL.items() if name in names or name == "num_labels"}
    labels = {"num_labels": 2} if "QuestionAnswering" in plan.head else {}
    parts = {name: dict(part) for name, part in family.parts.items()}
    chosen = {**small, **labels, **family.options, **plan.options, **parts}
    return config(**chosen)


def _randomize(model: Any) -> None:
    random = np.random.default_rng(2)
    for variable in model.variables:
        if not variable.dtype.is_floating:
            continue
        shape: Any = variable.shape
        noise: npt.NDArray[np.float64] = _SPREAD * np.asarray(random.standard_normal(shape), np.float64)
        if "variance" in variable.name:
            noise = np.abs(noise)
        variable.assign_add(noise.astype(variable.dtype.as_numpy_dtype))


def signature_of(plan: Plan, model: Any) -> Signature:
    """Makes what the plan says of the model."""
    if plan.kind is Kind.STEP:
        return _step(plan, model)
    inputs = _inputs(plan, model)
    if plan.kind is Kind.GENERATE:
        used = [name for name in inputs[0] if not name.startswith("decoder_")]

        def generate(given: Mapping[str, Any]) -> dict[str, Any]:
            return {"sequences": model.generate(**given, **plan.generation)}

        return generate, [{name: each[name] for name in used} for each in inputs]

    def forward(given: Mapping[str, Any]) -> dict[str, Any]:
        return _flat(model(dict(given), training=False))

    return forward, inputs


def _sizes(plan: Plan) -> tuple[Sizes, Sizes]:
    family = FAMILIES[plan.family]
    first = Sizes(2, family.length, 7, family.side)
    longer = 8 if plan.varies_length else 0
    return first, Sizes(3, family.length + longer, 5, family.side) if plan.dynamic else first


def _inputs(plan: Plan, model: Any) -> list[Arrays]:
    """Inputs of two calls: of the same shapes, or of others if the plan says dynamic."""
    family = FAMILIES[plan.family]
    specs: dict[str, tuple[Sequence[int | None], str]] = {
        name: (spec.shape.as_list(), spec.dtype.name) for name, spec in model.input_signature.items()
    }
    if plan.family in {"Wav2Vec2", "Hubert"}:
        specs = {"input_values": ([None, None], "float32"), "attention_mask": ([None, None], "int32")}
    if plan.family == "ViTMAE":
        specs["noise"] = ([None, (family.side // SMALL["patch_size"]) ** 2], "float32")
    if plan.family == "Sam":
        specs = {
            "pixel_values": ([None, 3, family.side, family.side], "float32"),
            "input_points": ([None, None, None, 2], "float32"),
        }
    if plan.family == "Bart" and plan.head == "ForSequenceClassification":  # its decoder takes the same words
        specs = {name: spec for name, spec in specs.items() if not name.startswith("decoder_")}
    return [draw_inputs(specs, sizes, model.config, seed) for seed, sizes in enumerate(_sizes(plan), 3)]


def _step(plan: Plan, model: Any) -> Signature:
    """A step of a decoder, which takes the caches of the steps before."""
    tf: Any = importlib.import_module("tensorflow")
    structure: list[Any] = []
    calls: list[Arrays] = []
    encoded = plan.family in {"Bart", "T5", "Marian", "Pegasus", "Blenderbot", "Whisper"}
    outputs_of_encoder: Any = importlib.import_module("transformers.modeling_tf_outputs").TFBaseModelOutput
    words = "decoder_input_ids" if encoded else "input_ids"
    for given in _inputs(plan, model):
        past = model(dict(given), use_cache=True, training=False)
        structure.append(past.past_key_values)
        caches = tf.nest.flatten(past.past_key_values)
        step: dict[str, Any] = {words: given[words][:, -1:]}
        if encoded:
            step["encoder_hidden_states"] = past.encoder_last_hidden_state.numpy()
            if "attention_mask" in given:
                step["attention_mask"] = given["attention_mask"]
        calls.append({**step, **{f"past_key_values_{number}": each.numpy() for number, each in enumerate(caches)}})

    def decode(given: Mapping[str, Any]) -> dict[str, Any]:
        caches = [each for name, each in given.items() if name.startswith("past_key_values_")]
        arguments: dict[str, Any] = {
            words: given[words],
            "past_key_values": tf.nest.pack_sequence_as(structure[0], caches),
            "use_cache": True,
            "training": False,
        }
        if encoded:
            arguments["encoder_outputs"] = outputs_of_encoder(last_hidden_state=given["encoder_hidden_states"])
            if "attention_mask" in given:
                arguments["attention_mask"] = given["attention_mask"]
            return _flat(model(None, **arguments))
        return _flat(model(arguments.pop(words), **arguments))

    return decode, calls


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Tensors by the names of where they stand in a structure of outputs."""
    if value is None:
        return {}
    inner: Iterable[tuple[Any, Any]]
    if isinstance(value, Mapping):
        inner = cast("Mapping[Any, Any]", value).items()
    elif isinstance(value, tuple | list):
        inner = enumerate(cast("Sequence[Any]", value))
    else:
        return {name or "output": value}
    flat: dict[str, Any] = {}
    for key, each in inner:
        flat |= _flat(each, f"{name}_{key}" if name else str(key))
    return flat
