"""Run as a program: converts exported functions of JAX, and prints what came of each."""

# JAX is not typed here: it is no dependency of the type check.
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import litefuse
from litefuse.frontends.jax_export import write_exported
from litefuse.passes.stablehlo.modules import without_annotations

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
lax: Any = importlib.import_module("jax.lax")
export: Any = importlib.import_module("jax.export")
interpreter: Any = importlib.import_module("ai_edge_litert.interpreter")


def shape(*sizes: Any) -> Any:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def converted(function: Any, *args: Any, platforms: list[str] | None = None, **kwargs: Any) -> Any:
    result = litefuse.convert(export.export(jax.jit(function), platforms=platforms)(*args, **kwargs))
    return interpreter.Interpreter(model_content=result.model_bytes).get_signature_runner()


def message(call: Callable[[], Any]) -> str:
    try:
        call()
    except litefuse.LitefuseError as error:
        return str(error)
    return "no error"


def plain(x: Any) -> Any:
    return x * 2


def damaged() -> None:
    exported = export.export(jax.jit(plain))(shape(3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        write_exported(exported, path)
        data = (path / "saved_model.pb").read_bytes()
        program = exported.mlir_module_serialized
        (path / "saved_model.pb").write_bytes(data.replace(program[:40], bytes(40)))
        litefuse.convert(path)


def damaged_annotations() -> str:
    """Each byte of a program changed, and the program cut off there: what comes back is for the bindings to refuse."""
    program: bytes = export.export(jax.jit(jnp.linalg.det))(shape(4, 4)).mlir_module_serialized
    # Older versions of JAX write none.
    assert (without_annotations(program) != program) == (b"sdy" in program)
    assert without_annotations(without_annotations(program)) == without_annotations(program)
    for position in range(len(program)):
        changed = bytearray(program)
        changed[position] ^= 0xFF
        for each in (bytes(changed), program[:position]):
            assert len(without_annotations(each)) == len(each)
    return "as long as before"


def main() -> None:
    params = {"w": shape(3, 2), "b": shape(2)}
    runner = converted(
        lambda p, x, *, scale: {"y": (x @ p["w"] + p["b"]) * scale, "z": [x]}, params, shape(4, 3), scale=shape()
    )
    print("names:", list(runner.get_input_details()), "->", sorted(runner.get_output_details()))

    def eleven(*values: Any, zeta: Any) -> Any:  # args_10 is the last but one, and before args_2 by name
        return (*(number * value for number, value in enumerate(values)), zeta)

    given = [np.full(3, number, np.float32) for number in range(12)]
    result = litefuse.convert(export.export(jax.jit(eleven))(*[shape(3)] * 11, zeta=shape(3)))
    engine = interpreter.Interpreter(model_content=result.model_bytes)
    engine.allocate_tensors()
    for detail, value in zip(engine.get_input_details(), given, strict=True):
        engine.set_tensor(detail["index"], value)
    engine.invoke()
    print("order:", *(int(engine.get_tensor(each["index"])[0]) for each in engine.get_output_details()))

    (size,) = export.symbolic_shape("b,")
    runner = converted(lambda x: jax.nn.softmax(x @ np.ones((3, 4), np.float32)), shape(size, 3))
    signature = {name: each["shape_signature"].tolist() for name, each in runner.get_input_details().items()}
    shapes = [runner(args_0=np.ones((n, 3), np.float32))["output_0"].shape for n in (2, 5)]
    print("open sizes:", signature, "twice", *shapes)

    batch, length = export.symbolic_shape("b, t")
    kernel = np.arange(27, dtype=np.float32).reshape(3, 3, 3) / 9

    def of_length(x: Any) -> Any:
        y = jnp.cumsum(jnp.flip(lax.cumsum(x, 1, reverse=True), 1), 1) / x.shape[1]
        z = lax.conv_general_dilated(y, kernel, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        return y + z.sum(1, keepdims=True)

    runner = converted(of_length, shape(batch, length, 3))
    values = [np.linspace(-1, 1, b * t * 3, dtype=np.float32).reshape(b, t, 3) for b, t in ((2, 5), (4, 2))]
    given = [runner(args_0=value)["output_0"] for value in values]
    error = max(float(np.abs(mine - of_length(value)).max()) for mine, value in zip(given, values, strict=True))
    print("two open sizes:", *(each.shape for each in given), round(error, 4))

    runner = converted(lambda x, y: x.sum(), shape(3), shape(2))
    result = runner(args_0=np.array([1, 2, 3], np.float32), args_1=np.zeros(2, np.float32))
    print("unused inputs:", sorted(runner.get_input_details()), result["output_0"])

    runner = converted(lambda x: jnp.arange(3.0), shape(3))
    print("no used inputs:", runner(args_0=np.zeros(3, np.float32))["output_0"])

    runner = converted(lambda x: plain(x).sum(), shape(3), platforms=["tpu", "cpu"])
    print("platforms:", runner(args_0=np.array([1, 2, 3], np.float32))["output_0"])

    print("not exported:", message(lambda: litefuse.convert(jax.jit(plain))).splitlines()[0].removeprefix("error: "))
    other = export.export(jax.jit(plain), platforms=["tpu"])(shape(3))
    print(
        "for another platform:",
        "it was exported for tpu" if "exported for tpu" in message(lambda: litefuse.convert(other)) else "?",
    )

    def found(part: str, call: Callable[[], Any]) -> str:
        text = message(call)
        return part if part in text else text

    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        wide = export.export(jax.jit(plain))(jax.ShapeDtypeStruct((3,), jnp.float64))
    print(
        "float64:",
        found("export it in float32, without jax_enable_x64", lambda: litefuse.convert(wide, dtypes="narrow")),
    )

    def keras_cases() -> str:
        keras: Any = importlib.import_module("keras")
        ids, mask = (keras.Input((None,), dtype="int32", name=name) for name in ("ids", "mask"))
        y = keras.layers.Embedding(9, 4)(ids) * keras.ops.expand_dims(keras.ops.cast(mask, "float32"), -1)
        model = keras.Model({"ids": ids, "mask": mask}, {"mean": keras.ops.mean(y, axis=1)})
        runner = interpreter.Interpreter(model_content=litefuse.convert(model).model_bytes).get_signature_runner()
        errors: list[float] = []
        for b, t in ((2, 5), (3, 4)):
            values = {"ids": np.arange(b * t, dtype=np.int32).reshape(b, t) % 9, "mask": np.ones((b, t), np.int32)}
            errors.append(float(np.abs(runner(**values)["mean"] - np.asarray(model(values)["mean"])).max()))
        return str(round(max(errors), 5))

    print("two inputs of one length:", keras_cases())

    def stateful() -> None:
        keras: Any = importlib.import_module("keras")
        x = keras.Input((3, 2), batch_size=1)
        litefuse.convert(keras.Model(x, keras.layers.GRU(2, dropout=0.5, stateful=True)(x)))

    print("states:", found("which its program on JAX does not keep: the states of a recurrent layer", stateful))

    def twice(x: Any) -> Any:
        return {"a_b": x, "a": {"b": x}}

    print("same names:", found("two of its values have the same name", lambda: converted(twice, shape(3))))
    (size,) = export.symbolic_shape("b,")

    def eigenvalues(x: Any) -> Any:
        return jnp.linalg.eigvals(x[:, :, None] * x[:, None, :]).real

    print("unknown call:", found("code of JAX's own runtime", lambda: converted(eigenvalues, shape(size, 4))))
    print("annotated call:", found("code of JAX's own runtime", lambda: converted(eigenvalues, shape(2, 4))))
    print("damaged annotations:", damaged_annotations())

    def of_four_bits(x: Any) -> Any:
        return (x.astype("int4") + jnp.int4(1)).astype(jnp.int32)

    print("int4:", found("arithmetic of int4 is not supported", lambda: converted(of_four_bits, shape(4))))
    print("damaged:", found("cannot be read", damaged))


if __name__ == "__main__":
    main()
