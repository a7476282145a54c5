"""The target ``quantization``: recipes, and archives of samples, through ``litefuse quantize``."""

from __future__ import annotations

import io
import json
import random
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.commands import outcome_of_command
from fuzz.outcome import Outcome
from fuzz.settings import hostile_value
from fuzz.target import Target
from fuzz.tflite import seeds
from fuzz.values import FLOATS, INTEGERS, STRINGS, change_bytes, hostile_shape
from litefuse.support.processes.limits import ProcessLimits, processes_limited

_SECONDS = 30.0
_DTYPES = ("<f4", "<f8", "<i4", "|b1", "<U3", "|S2", "<c8", "<f2", "|V4", "<M8[s]", ">f4")


class QuantizationTarget(Target):
    """Files that a quantization is asked with: values of other kinds, sizes and names, and changed bytes."""

    name = "quantization"
    suffix = ".bin"
    batch = 40
    timeout = 90.0

    def mutant(self, number: int) -> bytes:
        draw = self.random(number)
        content = _recipe(draw) if draw.random() < 0.6 else _archive(draw)
        return change_bytes(draw, content, most=3) if draw.random() < 0.2 else content

    def try_out(self, content: bytes) -> Outcome:
        with tempfile.TemporaryDirectory() as folder, processes_limited(ProcessLimits(_SECONDS, None)):
            model, given, output = (Path(folder, name) for name in ("m.tflite", "given", "out.tflite"))
            model.write_bytes(seeds()["dense.tflite"])
            given.write_bytes(content)
            arguments = ["quantize", str(model), "-o", str(output), "--no-check-file"]
            is_archive = content[:2] == b"PK"
            chosen = ["--quantize", "int8", "--representative-dataset"] if is_archive else ["--recipe"]
            return outcome_of_command([*arguments, *chosen, str(given)])


def _recipe(draw: random.Random) -> bytes:
    weights: dict[str, Any] = {"num_bits": 8, "symmetric": True, "granularity": "CHANNELWISE", "dtype": "INT"}
    config: dict[str, Any] = {"weight_tensor_config": weights, "compute_precision": "INTEGER"}
    config |= {"explicit_dequantize": False, "skip_checks": False, "min_weight_elements": 0}
    entry: dict[str, Any] = {"regex": ".*", "operation": "*", "algorithm_key": "min_max_uniform_quantize"}
    entry["op_config"] = config
    for _ in range(draw.choice((0, 1, 1, 2))):
        table = draw.choice((entry, config, weights))
        key = draw.choice(sorted(table))
        if draw.random() < 0.2:
            table.pop(key)
        else:
            usual: tuple[Any, ...] = (
                "FLOAT",
                "TENSORWISE",
                "BLOCKWISE_32",
                "no_quantize",
                "FULLY_CONNECTED",
                True,
                4,
                2,
                16,
            )
            table[key] = draw.choice((*usual, *INTEGERS, 10**30, *FLOATS, hostile_value(draw)))
    recipe = draw.choice(([entry], [entry], [entry, entry], [entry, hostile_value(draw)], entry))
    return json.dumps(recipe, default=str).encode()


def _archive(draw: random.Random) -> bytes:
    """An archive of samples for the input of the model, whose members numpy need not have written."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for _ in range(draw.choice((1, 1, 2))):
            name = "x" if draw.random() < 0.7 else draw.choice(STRINGS).decode("utf-8", "replace") or "x"
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), _member(draw))
    return written.getvalue()


def _member(draw: random.Random) -> bytes:
    dtype, shape = draw.choice(("<f4", "<f4", *_DTYPES)), [3, 4]
    if draw.random() < 0.5:
        shape = hostile_shape(draw, shape)
    head: dict[str, Any] = {"descr": dtype, "fortran_order": draw.random() < 0.2, "shape": tuple(shape)}
    if draw.random() < 0.2:
        head[draw.choice(("descr", "fortran_order", "shape"))] = draw.choice(
            (None, "x", -1, 10**30, (), [("a", "<f4")])
        )
    text = f"{head}\n".encode()
    data = _numbers(draw) if draw.random() < 0.8 else b""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def _numbers(draw: random.Random) -> bytes:
    return np.array([draw.choice((0.5, 1.0, -1.0, *FLOATS)) for _ in range(12)]).astype("<f4").tobytes()
