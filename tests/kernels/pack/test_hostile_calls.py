"""Calls that ask for more than there is: of memory, of time, of what can be counted; and messages that are no text."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert import interpreter as litert

from litefuse.errors import KernelError
from litefuse.kernels import PACK, native_library
from litefuse.litert.runtime.interpreter import Interpreter
from tests.kernels.pack.one_op import FORMS, run
from tests.litert.runtime.models import Graph, model, unary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

needs_library = pytest.mark.skipif("native" not in FORMS, reason="litefuse was installed without its native kernels")
each_form = pytest.mark.parametrize("form", FORMS)

BOXES, INDEX = np.zeros((65536, 4), np.float32), np.zeros(65536, np.int32)
WORDS = np.array([b"a", b"b", b"c"], object)
ROW = np.array([0, 3])
NGRAMS = {"separator": "", "left_pad": "", "right_pad": "", "pad_width": -1}


@each_form
@pytest.mark.parametrize("constants", [(), (3,)], ids=["when it runs", "when it is prepared"])
@pytest.mark.parametrize("size", [65536, 2**31 - 1])
def test_a_shape_that_is_too_large_to_count(form: str, constants: Sequence[int], size: int) -> None:
    """65536 boxes of 65536 x 65536 x 65536 are 2**64 elements: 0, where nobody looks."""
    inputs = [np.zeros((1, 1, 1, 65536), np.float32), BOXES, INDEX, np.array([size, size], np.int32)]

    with pytest.raises(KernelError, match=r"memory|shape"):
        run("CropAndResize", inputs, [np.float32], form=form, constants=constants)


@each_form
def test_a_patch_that_is_too_large_to_count(form: str) -> None:
    options = {"ksizes": [1, 2**31 - 1, 2**31 - 1, 1], "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1]}

    with pytest.raises(KernelError, match=r"too large|memory|shape"):
        run("ExtractImagePatches", [np.zeros((1, 4, 4, 64))], [np.float64], {**options, "padding": "SAME"}, form=form)


@each_form
@pytest.mark.parametrize(
    ("op", "shape"),
    [
        ("MatrixInverse", (0, 2**25, 2**25)),
        ("Cholesky", (2**20, 2**20, 2**20, 0, 0)),
        ("MatrixDeterminant", (0, 2**25, 2**25)),
    ],
)
def test_empty_tensors_of_huge_sizes(op: str, shape: tuple[int, ...], form: str) -> None:
    """Nothing is computed, and nothing made to compute it in."""
    graph = Graph()
    x = graph.input("x", shape)
    graph.custom(op, [x], [graph.output("y", [])])
    interpreter = Interpreter(model(graph), custom_ops=[PACK[op]] if form == "numpy" else None)
    interpreter.allocate_tensors()
    # An empty array of such sizes may be none of numpy's.
    with contextlib.suppress(KernelError, ValueError) if form == "numpy" else contextlib.nullcontext():
        interpreter.invoke()
    expected = shape[:-2] if op == "MatrixDeterminant" else shape
    assert interpreter.get_output_details()[0]["shape"].tolist() == [*expected]


@each_form
@pytest.mark.parametrize(
    "options",
    [
        {"ngram_widths": [2**31 - 1]},
        {"ngram_widths": [20_000]},
        {"ngram_widths": [2**31 - 1], "pad_width": 2**31 - 1},
        {"ngram_widths": [2**62]},
        {"ngram_widths": [2], "pad_width": 2**62},
        {"ngram_widths": [2**31 - 1], "pad_width": 2**30},
        {"ngram_widths": [2**31 - 1], "pad_width": 2**29, "preserve_short_sequences": True},
    ],
)
def test_ngrams_without_end(options: Mapping[str, Any], form: str) -> None:
    with pytest.raises(KernelError, match=r"too many to make|int32"):
        run("StringNGrams", [WORDS, ROW], [object, np.int64], {**NGRAMS, **options}, form=form)


@each_form
def test_ngrams_of_more_padding_than_width(form: str) -> None:
    """There are as many paddings as the width less one; a row that gives none is preserved with all of them."""
    options = {**NGRAMS, "pad_width": 2, "left_pad": "<", "right_pad": ">"}

    def found(**more: Any) -> list[bytes]:
        return run("StringNGrams", [WORDS, ROW], [object, np.int64], {**options, **more}, form=form)[0].tolist()

    assert found(ngram_widths=[2]) == [b"<a", b"ab", b"bc", b"c>"]
    assert found(ngram_widths=[2**31 - 1]) == []
    assert found(ngram_widths=[2**31 - 1], preserve_short_sequences=True) == [b"<<abc>>"]


@needs_library
@pytest.mark.parametrize("pattern", ["a*b|a", "(a|aa)*b|a", "(a*)*b|(a)"])
def test_a_match_that_is_looked_for_to_the_end_of_the_text_again_and_again(pattern: str) -> None:
    """For each character all that follow are looked at, where a way is tried that leads nowhere: hours for these."""
    text = np.array([b"a" * 300_000], object)

    (result,) = run("StaticRegexReplace", [text], [object], {"pattern": pattern, "rewrite": "-"}, form="native")

    assert result[0] == b"-" * 300_000


@needs_library
def test_a_long_text_is_matched_in_blocks() -> None:
    text = b"".join(b"%d " % number for number in range(40_000))
    call = {"pattern": r"(\d*)7 ", "rewrite": r"<\1>"}

    (result,) = run("StaticRegexReplace", [np.array([text, b"7 "], object)], [object], call, form="native")

    words = (b"<%d>" % (n // 10) if n % 10 == 7 else b"%d " % n for n in range(40_000))
    assert result[0] == b"".join(words).replace(b"<0>", b"<>", 1)
    assert result[1] == b"<>"


@needs_library
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"\xff", r"'\xff' is not a number"),
        ("é".encode(), "'é' is not a number"),
        (b"\xe2\x82", r"'\xe2\x82' is not a number"),
    ],
)
def test_a_message_is_text_whatever_the_strings_are(text: bytes, shown: str) -> None:
    """In the stock interpreter, which decodes what a kernel reports."""
    interpreter = litert.Interpreter(
        model_content=unary("StringToNumber", shape=(1,), dtype=object, output_dtype=np.float32),
        experimental_delegates=[litert.load_delegate(str(native_library()))],
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.array([text], object))

    with pytest.raises(RuntimeError) as raised:
        interpreter.invoke()

    assert shown in str(raised.value)


@needs_library
@pytest.mark.parametrize("length", [200, 505, 506, 507, 508, 509, 510, 511, 512, 5000])
def test_a_long_message_is_cut_between_characters_or_shows_where(length: int) -> None:
    text = np.array(["x" * (length - 1) + "é" * 300], object)
    text[0] = text[0].encode()

    with pytest.raises(KernelError, match=r"x{100,}"):
        run("StringToNumber", [text], [np.float32], form="native")


@needs_library
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit is not kept")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer has terabytes of addresses")
def test_an_allocation_that_fails_is_an_error_and_the_next_call_works() -> None:
    code = """
import resource
import numpy as np
from ai_edge_litert import interpreter as litert
from litefuse.kernels import native_library
from tests.litert.runtime.models import unary

options = {"pattern": "(a|b|c)*", "rewrite": "", "replace_global": True}
interpreter = litert.Interpreter(
    model_content=unary("StaticRegexReplace", options, shape=(1,), dtype=object),
    experimental_delegates=[litert.load_delegate(str(native_library()))],
)
interpreter.allocate_tensors()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
text = b"a" * 60_000_000
interpreter.set_tensor(0, np.array([text], object))
resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000,) * 2)
try:
    interpreter.invoke()
except RuntimeError as error:
    print(error)
interpreter.set_tensor(0, np.array([b"abcd"], object))
interpreter.invoke()
print(interpreter.get_tensor(1))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert "litefuse kernel StaticRegexReplace" in done.stdout
    assert "bad_alloc" in done.stdout
    assert "[b'd']" in done.stdout
