"""The pack's kernels of strings against TensorFlow, on many random inputs: regular expressions, encodings, numbers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from litefuse.errors import KernelError
from litefuse.kernels import PACK
from litefuse.litert.runtime.custom_op import TensorSpec, is_beyond_native
from litefuse.litert.runtime.options import Parameters
from tests.kernels.pack import one_op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.process import TensorFlow

# An op's inputs and attributes, dtypes as strings.
Call = tuple[str, list[Any], dict[str, Any]]

# The kernels in C++, and the dtypes of what they give.
NATIVE: dict[str, list[Any]] = {
    **{op: [object] for op in ("ReduceJoin", "StringJoin", "StringLower", "StringStrip", "StringUpper", "Substr")},
    **{op: [] for op in ("DecodePaddedRaw", "DecodeRaw", "StringToNumber")},  # of the dtype that an attribute says
    "StaticRegexFullMatch": [np.bool_],
    "StaticRegexReplace": [object],
    "StringLength": [np.int32],
    "StringNGrams": [object, np.int64],
    "StringSplit": [np.int64, object, np.int64],
    "StringSplitV2": [np.int64, object, np.int64],
    "StringToHashBucketFast": [np.int64],
}
NUMBERS = {"float32": 0, "int32": 2, "int64": 4, "float64": 10}
RAW = {**NUMBERS, "float16": 1, "uint8": 3, "bool": 6, "int16": 7, "complex64": 8, "int8": 9, "uint16": 16}


def strings(values: Sequence[bytes]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def evaluate(tf: Any, calls: Sequence[Call]) -> list[list[Any] | None]:
    """The outputs of each call as lists; None where TensorFlow refuses."""
    results: list[list[Any] | None] = []
    for op, inputs, attributes in calls:
        named = {
            key: tf.as_dtype(value) if key in {"out_type", "Tsplits"} else value for key, value in attributes.items()
        }
        function = getattr(tf.raw_ops, op)
        names = [name for name in function.__signature__.parameters if name not in named]
        try:
            outputs = function(**dict(zip(names, inputs, strict=False)), **named)
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, UnicodeDecodeError):
            # The last one: its message quotes a string that is no UTF-8.
            results.append(None)
            continue
        results.append(
            [np.asarray(each.numpy(), each.dtype.as_numpy_dtype).tolist() for each in tf.nest.flatten(outputs)]
        )
    return results


def run(op: str, inputs: Sequence[Any], attributes: dict[str, Any]) -> list[Any]:
    """What the kernel gives without a runtime, which takes its time for each of many models."""
    options = {key: RAW[value] if key in {"out_type", "Tsplits"} else value for key, value in attributes.items()}
    arrays = [each.astype(object) if each.dtype.kind == "S" else each for each in map(np.asarray, inputs)]
    kernel: Any = PACK[op]()

    def given(method: Any) -> dict[str, Any]:
        return Parameters.of(method).select(options, where=op)

    spec = kernel.prepare(
        *(TensorSpec(each.shape, each.dtype, value=each) for each in arrays), **given(type(kernel).prepare)
    )
    specs = [spec] if isinstance(spec, TensorSpec) else list(spec)
    outputs: Any = [np.zeros(each.shape or (), each.dtype) for each in specs]
    kernel.invoke(tuple(arrays), outputs, **given(type(kernel).invoke))
    return [each.tolist() for each in outputs]


def run_native(op: str, inputs: Sequence[Any], attributes: dict[str, Any]) -> list[Any]:
    """What the kernel in C++ gives; strings that are scalars are constants, as in most models."""
    options = {key: RAW[value] if key in {"out_type", "Tsplits"} else value for key, value in attributes.items()}
    arrays = [each if each.dtype.kind != "S" else each.astype(object) for each in map(np.asarray, inputs)]
    constants = [place for place, each in enumerate(arrays) if not each.ndim or (op == "ReduceJoin" and place)]
    dtypes = NATIVE[op] or [np.dtype(attributes["out_type"])]
    outputs = one_op.run(op, arrays, dtypes, options, form="native", constants=constants)
    return [each.tolist() for each in outputs]


def native_call(call: Call) -> Call | None:
    """The call of a kernel in C++ that is to give the same; None if there is none."""
    op, inputs, attributes = call
    if op in {"RegexReplace", "RegexFullMatch"}:
        op, (text, pattern, *rewrite) = f"Static{op}", inputs
        inputs, attributes = [text], {**attributes, "pattern": pattern.item().decode()}
        attributes |= {"rewrite": rewrite[0].item().decode()} if rewrite else {}
    return None if op not in NATIVE or is_beyond_native(op, attributes) else (op, inputs, attributes)


def compare(tensorflow: TensorFlow, calls: Sequence[Call]) -> int:
    """Runs calls in TensorFlow and with all forms of the kernels: all give the same, or all refuse.

    Returns:
        How many calls were refused.
    """
    refused = 0
    wrong: list[str] = []
    answers = tensorflow.call(evaluate, calls)
    for (op, inputs, attributes), expected in zip(calls, answers, strict=True):
        try:
            actual = run(op, inputs, attributes)
        except KernelError as error:
            refused += 1
            if expected is not None:
                wrong.append(f"{op} {inputs} {attributes}: {error.message}")
            continue
        if repr(actual) != repr(expected):
            wrong.append(f"{op} {inputs} {attributes}: {actual}, not {expected}")
    if "native" in one_op.FORMS:
        for call, expected in zip(calls, answers, strict=True):
            native = native_call(call)
            if native is None:
                continue
            try:
                actual = run_native(*native)
            except KernelError:
                actual = None
            if repr(actual) != repr(expected):
                wrong.append(f"native {call}: {actual}, not {expected}")
    assert not wrong, f"{len(wrong)} of {len(calls)}: " + "\n".join(wrong[:5])
    return refused


ATOMS = [
    *("a", "b", "ab", ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", "[abc]", "[^a]", r"[a-c\d]", r"[^\W]"),
    *(r"[\W\d]", "[[:punct:]]", "[[:^alpha:]]", "[^[:alpha:]a]", "(a)", "(b|c)", "(?:ab|a)", "^", "$", r"\b"),
    *(r"\A", r"\z", r"\pL", r"\PL", r"\p{Lu}", r"\p{^Lu}", r"[\pN_]", "é", "[é-ü]", "(?i:a)", "(?i:K)"),
    *(r"\x41", r"\x{e9}", r"\101", r"\.", r"\Qa.\E", "(?P<n>a)", "[]a]", "[a-]", "[-a]", "()", r"\n", r"\_"),
    *(r"\-", "{", "}", "]", "a{2}", "b{1,2}", "[[:word:]]", "K", "s", "ß", r"\v", "a{,2}", "(?s:.)"),
    *("(?m:^|$)", "(?U:a+)"),
]
WRONG = [
    *(r"\1", r"\8", r"\y", r"\Z", r"\cA", r"\pZ{", "[b-a]", "a**", "a++", "a{2}{3}", "(?=a)", "(?#x)", "(?x)"),
    *("a{1001}", r"\x{110000}", r"\xg", "(", ")", "[", "[[:foo:]]", "*", "\\", "a|*", "(?P<n", r"\p{Foo}"),
    *("(?P=n)", r"[\b]", "a{3,2}"),
]
REPETITIONS = ["", "", "", "", "*", "+", "?", "*?", "+?", "??", "{0,2}", "{2,}", "{2}"]
TEXTS = [
    *("", "a", "b", "ab", "aab", "abc", "A", "aA bB", "é", "É", "a\nb", "1a2", "  x ", "K", "\u017f", "S", "ß"),
    *("_-.", "a.a", "x\u212ak", "b1_c", "{", "a{,2}", "]-", "aaaa\n"),
]


def test_regular_expressions(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(11)
    patterns = [*ATOMS, *WRONG, "(?i)a|ß", "(?i)", "a(?i)b|c", "(?i:a(?-i)b)", "a|", "|a", "(|a)+", ""]
    for _ in range(500):
        parts = [f"{random.choice(ATOMS)}{random.choice(REPETITIONS)}" for _ in range(random.integers(1, 5))]
        patterns.append("".join(parts) + (f"|{random.choice(ATOMS)}" if random.random() < 0.3 else ""))
    texts = strings([*(each.encode() for each in TEXTS), b"ab\xff", b"\xc3a\xa9"])
    calls: list[Call] = []
    for pattern in patterns:
        rewrite = str(random.choice(["X", r"[\0]", r"<\1>", "\\\\ü", ""]))
        given = {"replace_global": bool(random.random() < 0.8)}
        calls.append(("RegexReplace", [texts, np.array(pattern.encode()), np.array(rewrite.encode())], given))
        calls.append(("RegexFullMatch", [texts, np.array(pattern.encode())], {}))
    refused = compare(tensorflow, calls)
    assert 2 * len(WRONG) <= refused < len(calls) / 4


def test_encodings(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(12)
    pieces = [
        b"a",
        b"\x00",
        b"\x1f",
        b"\x7f",
        *(bytes([each]) for each in (0x80, 0xA9, 0xC3, 0xE2, 0xED, 0xF0, 0xF4, 0xFF)),
    ]
    pieces += [
        "é".encode(),
        "語".encode(),
        "😀".encode(),
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
        b"\xef\xbf\xbd",
    ]
    calls: list[Call] = []
    for _ in range(60):
        text = strings([b"".join(random.choice(np.array(pieces, object), random.integers(0, 7))) for _ in range(5)])
        given: dict[str, Any] = {
            "errors": str(random.choice(["replace", "ignore"])),
            "replacement_char": int(random.choice([63, 0xFFFD, 0x1F600])),
            "replace_control_characters": bool(random.random() < 0.4),
        }
        calls.append(("UnicodeDecodeWithOffsets", [text], {**given, "input_encoding": "UTF-8"}))
        given["output_encoding"] = str(random.choice(["UTF-8", "UTF-16-BE", "UTF-32-BE"]))
        calls.append(("UnicodeTranscode", [text], {**given, "input_encoding": "UTF-8"}))
        codes = random.choice([65, 0xE9, 0xD800, 0xDFFF, 0xE000, 0x10FFFF, 0x110000, -1, 0], 6).astype(np.int32)
        encoded = {key: given[key] for key in ("errors", "replacement_char", "output_encoding")}
        calls.append(("UnicodeEncode", [codes, np.array([0, 2, 2, 6])], encoded))
        calls += [(op, [text], {"encoding": "utf-8"}) for op in ("StringLower", "StringUpper")]
        for unit in ("BYTE", "UTF8_CHAR"):
            calls.append(("StringLength", [text], {"unit": unit}))
            where = [random.integers(-2, 3, 5).astype(np.int32), random.integers(-1, 4, 5).astype(np.int32)]
            calls.append(("Substr", [text, *where], {"unit": unit}))
    calls.append(("UnicodeDecode", [strings([b"\xff"])], {"input_encoding": "UTF-8", "errors": "strict"}))
    assert 0 < compare(tensorflow, calls) < len(calls) / 4


FORMS = [
    *("1", "+1", "-0", "1e5", "1E+5", "inf", "-Inf", "INFINITY", "nan", "nan(1)", "0x1p3", "-0x1F", "1_0"),
    *("", " ", ".5", "5.", ".", "1e", "1e400", "1e-400", "\t7\n", "1.5f", "0x", "00012", "-+1"),
    *("3.4028236e38", "9223372036854775807", "9223372036854775808", "2147483648", "-2147483648", "1.0"),
    *("1.000000059604644775390625"),
]


def test_numbers(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(13)
    texts = [each.encode() for each in FORMS]
    texts += [f"{random.normal():.{digits}e}".encode() for digits in (3, 9, 17) for _ in range(10)]
    # Halfway between two float32, and next to it.
    texts += [f"{1 + (2 * n + 1) * 2**-24:.30f}{tail}".encode() for n in range(3) for tail in ("", "1")]
    calls: list[Call] = [
        ("StringToNumber", [strings([text])], {"out_type": dtype}) for text in texts for dtype in NUMBERS
    ]
    for dtype in ("float32", "float64", "float16", "int32", "int64", "uint8", "bool", "complex64"):
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.array([0, 1.5, -2.25e9, 1e-7, 123456.789, np.inf, -np.inf, np.nan, -np.nan], np.float64)
            values = (values if dtype[0] in "fc" else np.arange(-4.0, 5.0) * 25).astype(dtype)
        for _ in range(12):
            given: dict[str, Any] = {
                "width": int(random.integers(-1, 9)),
                "fill": str(random.choice(["", "0", "-", " ", "+"])),
            }
            if dtype[0] in "fc" or random.random() < 0.2:
                given |= {"precision": int(random.integers(-1, 4)), "scientific": bool(random.random() < 0.3)}
                given["shortest"] = bool(random.random() < 0.3)
            calls.append(("AsString", [values], given))
    assert 0 < compare(tensorflow, calls) < len(calls)


def test_raw_bytes(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(15)
    calls: list[Call] = []
    for dtype, order in itertools.product(RAW, (True, False)):
        width = np.dtype(dtype).itemsize
        given: dict[str, Any] = {"out_type": dtype, "little_endian": order}
        # Exponents of floats are not all ones: of what is no number, the bits would not be compared.
        data = [bytes(random.integers(0, 2 if dtype == "bool" else 60, 3 * width).tolist()) for _ in range(2)]
        calls += [("DecodeRaw", [values], given) for values in (strings(data), np.array(data[0]), strings([b"", b""]))]
        calls.append(("DecodeRaw", [strings([b"12345678" * 2, b"12345678"])], given))
        calls += [("DecodeRaw", [strings([b"123"])], given)] if width > 1 else []
        if dtype not in {"bool", "complex64", "float16"}:  # for which TensorFlow has no kernel
            calls += [("DecodePaddedRaw", [strings(data), np.int32(count * width)], given) for count in (1, 3, 5)]
            calls.append(("DecodePaddedRaw", [strings(data), np.int32(width - 1)], given))
    assert 0 < compare(tensorflow, calls) < len(calls) / 2


def test_ngrams_splits_and_hashes(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(14)
    calls: list[Call] = []
    for _ in range(40):
        lengths = random.integers(0, 5, 4)
        splits = np.cumsum([0, *lengths])
        given: dict[str, Any] = {
            "separator": " ",
            "ngram_widths": random.integers(1, 5, random.integers(1, 3)).tolist(),
            "left_pad": "<",
            "right_pad": ">",
            "pad_width": int(random.integers(-1, 4)),
            "preserve_short_sequences": bool(random.random() < 0.5),
        }
        calls.append(("StringNGrams", [strings([b"w%d" % n for n in range(splits[-1])]), splits], given))
        text = strings(
            [bytes(random.choice(np.frombuffer(b"ab ,\t", np.uint8), random.integers(0, 9))) for _ in range(4)]
        )
        separators = [b"", b" ", b",", b"ab", b", "]
        separator = np.array(separators[random.integers(len(separators))])
        calls.append(("StringSplitV2", [text, separator], {"maxsplit": int(random.integers(-2, 4))}))
        calls.append(("StringSplit", [text, separator], {"skip_empty": bool(random.random() < 0.5)}))
        sizes: list[int] = random.integers(0, 150, 4).tolist()
        data = strings([random.bytes(size) for size in sizes])
        buckets: int = random.integers(1, 1 << 60).item()
        key: list[int] = random.integers(-(1 << 60), 1 << 60, 2).tolist()
        calls.append(
            (
                "StringToHashBucketStrong",
                [data],
                {"num_buckets": buckets, "key": key},
            )
        )
        calls += [(op, [data], {"num_buckets": buckets}) for op in ("StringToHashBucket", "StringToHashBucketFast")]
        calls.append(("EncodeBase64", [data], {"pad": bool(random.random() < 0.5)}))
        letters = strings([bytes(random.choice(np.frombuffer(b"aA0-_=+", np.uint8), random.integers(0, 6)))])
        calls.append(("DecodeBase64", [letters], {}))
    assert 0 < compare(tensorflow, calls) < len(calls) / 4


@pytest.mark.parametrize("axes", [[0], [1], [0, 1], [2, 0], [1, 2, 0], [-1], []])
def test_joins(tensorflow: TensorFlow, axes: list[int]) -> None:
    text = np.array([b"%d" % n for n in range(24)], object).reshape(2, 3, 4)
    calls: list[Call] = [
        ("ReduceJoin", [text, np.array(axes, np.int32)], {"keep_dims": keep, "separator": "|"})
        for keep in (True, False)
    ]
    assert compare(tensorflow, calls) == 0
