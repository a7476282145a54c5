"""The headers under LiteRT's names: each by itself, and what they compute and read."""

from __future__ import annotations

import random
import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from flatbuffers import flexbuffers

from litefuse.litert.cpp.compiler import find_compiler, native_sources
from litefuse.litert.cpp.tflite_headers import tflite_headers
from tests.litert.cpp.kernel_calls import multiplied, quantized_multiplier

COMPAT = native_sources() / "compat"
SOURCE = Path(__file__).with_name("data") / "headers.cc"
FOLDERS = [*tflite_headers().includes, native_sources() / "include"]
INCLUDES = [f"-I{folder}" for folder in FOLDERS]


def forward_of(header: Path) -> str | None:
    """The header that one does nothing but include; None if it is no such one."""
    found = re.fullmatch(r'#ifndef \w+\n#define \w+\n\n#include "(.*)"\n\n#endif  // \w+\n', header.read_text())
    return None if found is None else found[1]


def test_each_header_compiles_alone(tmp_path: Path) -> None:
    folders = ("headers", "resolver", "schema", "third_party")
    own = [path for folder in folders for path in sorted((COMPAT / folder).rglob("*.h"))]
    real = [path for path in own if forward_of(path) is None]
    assert len(real) > 20
    for number, header in enumerate(real):
        root = next(folder for folder in FOLDERS if header.is_relative_to(folder))
        line = f'#include "{header.relative_to(root)}"\n'
        (tmp_path / f"{number}.cc").write_text(line + line)
    options = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    sources = sorted(tmp_path.glob("*.cc"))
    done = subprocess.run(
        [*find_compiler(), *options, *INCLUDES, *sources], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_both_names_of_a_header_are_there() -> None:
    pairs = [("headers", "names"), ("resolver", "resolver"), ("schema", "schema")]
    for folder, names in pairs:
        new = {path.relative_to(COMPAT / folder / "tflite") for path in (COMPAT / folder / "tflite").rglob("*.h")}
        old = COMPAT / names / "tensorflow" / "lite"
        assert new == {path.relative_to(old) for path in old.rglob("*.h")}
        for path in new:
            assert forward_of(old / path) == f"tflite/{path}"
    for path in (COMPAT / "headers").rglob("*.h"):
        forward = forward_of(path)
        assert forward is None or any((folder / forward).is_file() for folder in FOLDERS), path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("headers") / "headers"
    options = ["-std=c++17", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DTFLITE_SINGLE_ROUNDING=1"]
    subprocess.run([*find_compiler(), *options, *INCLUDES, SOURCE, "-o", path], check=True)
    return path


def printed(program: Path, buffers: list[bytes], products: bytes = b"") -> list[str]:
    data = b"".join(struct.pack("<I", len(each)) + each for each in buffers) + struct.pack("<I", 0) + products
    done = subprocess.run([program], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout.decode(errors="replace").splitlines()


def document() -> bytes:
    builder: Any = flexbuffers.Builder()
    with builder.Map():
        for key, value in (("int", -(2**40)), ("uint", 200), ("real", 0.1), ("text", "mañana"), ("yes", True)):
            builder.Key(key)
            builder.Add(value)
        builder.Key("blob")
        builder.Blob(b"\0\1\2")
        builder.Key("fixed")
        builder.FixedTypedVectorFromElements([1, -2, 70000])
        builder.Key("typed")
        builder.TypedVectorFromElements([0.5, 2.0])
        builder.Key("untyped")
        builder.VectorFromElements([1, "two", None])
        builder.Key("map")
        with builder.Map():
            builder.Key("inner")
            builder.Int(7)
    return bytes(builder.Finish())


LISTS = "typed=[0.5 2 ];uint=200;untyped=(1 'two' null );yes=True;"


def test_flexbuffers_are_read(program: Path) -> None:
    assert printed(program, [document(), bytes(flexbuffers.Dumps(3)), b"\0"]) == [
        "blob=<3>;fixed={1 -2 70000 };int=-1099511627776;map=inner=7;;real=0.10000000000000001;text='mañana';" + LISTS,
        "3",
        "null",
    ]


def test_hostile_flexbuffers_are_read_within_their_bounds(program: Path) -> None:
    generator, whole = random.Random(0), document()
    buffers: list[bytes] = [whole[:size] for size in range(1, len(whole))]
    for _ in range(4000):
        data = bytearray(whole)
        for _ in range(generator.randint(1, 4)):
            data[generator.randrange(len(data))] = generator.choice([0, 1, 0xFF, generator.randrange(256)])
        buffers.append(bytes(data))
    assert len(printed(program, buffers)) >= len(buffers)


def test_products_that_are_rounded_once(program: Path) -> None:
    generator = random.Random(1)
    products = [(2 ** generator.uniform(-29, 0), generator.randint(-(2**31), 2**31 - 1)) for _ in range(2000)]
    found = printed(program, [], b"".join(struct.pack("<dii", real, x, 0) for real, x in products))
    twice = 0
    for line, (real, x) in zip(found, products, strict=True):
        multiplier, shift = quantized_multiplier(real)
        once = (x * multiplier + (1 << (30 - shift))) >> (31 - shift)
        assert line == f"{multiplier} {shift} {once}"
        twice += once != multiplied(x, multiplier, shift)
    assert twice > 0  # where the other way to round gives another number
