"""Write ``tests/kernels/pack/tensorflow_text.zip``: the results of TensorFlow Text, for tests without it.

Run it where TensorFlow Text is installed: ``python scripts/record_tensorflow_text.py``. The archive has ``ops.json``,
calls of single ops with their outputs, and for each of some models its SavedModel and ``calls.json``.
"""

from __future__ import annotations

import importlib
import itertools
import json
import random
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

OUTPUT = Path(__file__).resolve().parent.parent / "tests" / "kernels" / "pack" / "tensorflow_text.zip"

tf: Any = importlib.import_module("tensorflow")
text: Any = importlib.import_module("tensorflow_text")

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "quick",
    "##er",
    "brown",
    "fox",
    "##es",
    "jump",
    "##ed",
    "over",
    "a",
    "lazy",
    "dog",
    ".",
    ",",
    "!",
    "cafe",
    "##s",
    "漢",
    "字",
    "un",
    "##want",
    "runn",
    "##ing",
    "straße",
    "##",
    "##é",
    "café",
    "😀",
    "##😀",
    "[unused1]",
    "-",
    "##-",
]
TEXTS = (
    "The quicker brown foxes jumped over a lazy dog.",
    "",
    "unwanted 漢字, xyz! Café CAFÉ cafe\u0301 straße",
    "  \t\n",
    "running\u3000cafés\u00a0foxes\u2028the\u200bdog",
    "[unused1] - foxes-jumped a\u00adb \ufb01x 😀😀 \uff21\uff11",
    "漢字カタカナ한글 Привет ᚁ\u1680ᚂ مرحبا",
    b"the \xff\xfe quick \xe2\x82 fox \xed\xa0\x80 dog \xf0\x9f\x98",
    b"the\x00quick fox",
)
# Of many scripts, marks, cases, widths, whitespace and formats; of Unicode 9 or older, which all versions agree on.
CHARACTERS = (
    "aAzZ09 \t\n.,!?-_'\"()[]éÉßẞſıİǅΣσςΩÅ漢字かカ한글각Жжאبไทย"
    "\u0301\u0300\u0323\u0345\u200d\u200b\u00ad\ufeff\u3000\u00a0\u2028\u1680"
    "ﬁﬀⅣ①²½Ａａｶﾞ㌀😀🏳\U0001d400\u0344\u2126\u212b\u1e9b\u0958\u0f73ﾠ\u3164\u180b"
)


def written(value: Any) -> dict[str, Any]:
    """An array as JSON has it, strings as one character for each byte."""
    array: np.ndarray[Any, Any] = np.asarray(value)
    kind: str = "string" if array.dtype.kind in "OSU" else array.dtype.name
    flat = array.ravel().tolist()
    return {
        "dtype": kind,
        "shape": list(array.shape),
        "data": [each.decode("latin-1") for each in flat] if kind == "string" else flat,
    }


def encoded(texts: Sequence[str | bytes]) -> Any:
    return np.array([each if isinstance(each, bytes) else each.encode() for each in texts], object)


def drawn(count: int, seed: int) -> Any:
    draw = random.Random(seed)
    texts: list[str | bytes] = ["".join(draw.choices(CHARACTERS, k=draw.randint(0, 12))) for _ in range(count)]
    for at in range(0, count, 5):
        data = bytearray(encoded([texts[at]])[0] or b"x")
        data[draw.randrange(len(data))] = draw.choice([0x80, 0xC3, 0xE2, 0xFF])
        texts[at] = bytes(data)
    return encoded(texts)


OPS = {
    "CaseFoldUTF8": "case_fold_utf8",
    "NormalizeUTF8": "normalize_utf8",
    "RegexSplitWithOffsets": "regex_split_with_offsets",
    "TFText>NgramsStringJoin": "tf_text_ngrams_string_join",
    "TFText>WhitespaceTokenizeWithOffsetsV2": "tf_text_whitespace_tokenize_with_offsets_v2",
    "UnicodeScriptTokenizeWithOffsets": "unicode_script_tokenize_with_offsets",
    "WordpieceTokenizeWithOffsets": "wordpiece_tokenize_with_offsets",
}
"""Ops, and the functions that TensorFlow makes of them where it loads TensorFlow Text's libraries."""


MODULES = (
    "ngrams_op",
    "normalize_ops",
    "regex_split_ops",
    "unicode_script_tokenizer",
    "whitespace_tokenizer",
    "wordpiece_tokenizer",
)


def function_of(op: str) -> Any:
    for name in MODULES:
        module = importlib.import_module(f"tensorflow_text.python.ops.{name}")
        for library in (value for key, value in vars(module).items() if key.startswith("gen_")):
            if hasattr(library, OPS[op]):
                return getattr(library, OPS[op])
    raise KeyError(op)


def call(
    op: str, inputs: Sequence[Any], listed: Sequence[Any] | None = None, *, table: bool = False, **options: Any
) -> dict[str, Any]:
    """Calls an op; the record has the vocabulary in the place of its table.

    Args:
        op: The op's name.
        inputs: Its inputs.
        listed: The tensors of an input that is a list, behind the others.
        table: Whether a table of the vocabulary is the last input.
        options: Its attributes.
    """
    given = [tf.constant(each) for each in inputs]
    made = None
    if table:
        numbers = tf.range(len(VOCABULARY), dtype=tf.int64)
        made = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(VOCABULARY), numbers), -1)
        given.append(made.resource_handle)
    if listed is not None:
        given.append([tf.constant(each) for each in listed])
    outputs = function_of(op)(*given, **options)
    flat = tf.nest.flatten(outputs)
    return {
        "op": op,
        "inputs": [written(each) for each in [*inputs, *(listed or []), *([encoded(VOCABULARY)] if table else [])]],
        "options": {
            key: value.decode("latin-1") if isinstance(value, bytes) else value for key, value in options.items()
        },
        "outputs": [written(each.numpy()) for each in flat],
    }


def calls_of_normalization(texts: Any) -> Iterator[dict[str, Any]]:
    yield call("CaseFoldUTF8", [texts])
    for form in ("NFC", "nfd", "NFKC", "NFKD"):
        yield call("NormalizeUTF8", [texts], normalization_form=form)


def calls_of_tokenizers(texts: Any) -> Iterator[dict[str, Any]]:
    config = text.WhitespaceTokenizer()._config  # noqa: SLF001
    for given, bits in ((texts, config), (texts[:0], config), (texts, b"\0\0\0\0\0\x20"), (texts, b"")):
        yield call("TFText>WhitespaceTokenizeWithOffsetsV2", [given, bits])
    for separator, kept in (
        (r"(\s+)", ""),
        (r"(\s|[!-/]|[\p{P}]|[\x{4E00}-\x{9FFF}])", r"([!-/]|[\p{P}]|[\x{4E00}-\x{9FFF}])"),
        ("(e+)", "()"),
        (r"(^the|\bf)", r"(\bf)"),
        ("e", "e"),  # no group: nothing is a separator
        (r"(\n)", "(.)"),
    ):
        yield call("RegexSplitWithOffsets", [texts, separator.encode(), kept.encode()])
    yield call("RegexSplitWithOffsets", [encoded(["xaéz aee", "foae-ae "]), "a(e|é)?(.)".encode(), b"e"])
    codes = [np.array([ord(each) for each in one.decode("utf-8", "replace")], np.int32) for one in texts]
    codes.append(np.array([-1, 0x110000, 0x10FFFF, 65, 0xD800, 32, 32, 0x1680, 0x20, 97], np.int32))
    splits = np.cumsum([0, *map(len, codes)])
    for dtype in (np.int64, np.int32):
        for keep in (False, True):
            inputs = [np.concatenate(codes), splits.astype(dtype)]
            yield call("UnicodeScriptTokenizeWithOffsets", inputs, keep_whitespace=keep)


def calls_of_ngrams() -> Iterator[dict[str, Any]]:
    words = encoded(["a", "b", "c", "d", "e", "f", "g"])
    rows = [np.array([0, 2, 2, 3], np.int64), np.array([0, 4, 4, 7], np.int64)]
    for width in (1, 2, 3):
        for given, splits in ((words, []), (words[:6].reshape(2, 3), []), (words, rows[1:]), (words, rows)):
            options: dict[str, Any] = {"width": width, "axis": -1, "string_separator": b"\xff|"}
            yield call("TFText>NgramsStringJoin", [given], splits, **options)


def calls_of_wordpieces() -> Iterator[dict[str, Any]]:
    known = ("foxes", "jumped", "unwanted", "cafés", "café", "漢字", "😀😀", "##s", "-", "the", "the-")
    unknown_parts = ("xyz", "caféé", "quickerer", "漢x", "😀x", "##", "s")
    words = encoded([*known, *unknown_parts, "", "foxes" * 30, b"fox\xff", b"\xff", b"caf\xc3", b"fox\xe2\x82es"])
    for unknown, split, most in itertools.product((True, False), (False, True), (0, 3)):
        yield call(
            "WordpieceTokenizeWithOffsets",
            [words],
            table=True,
            suffix_indicator="##",
            max_bytes_per_word=100,
            max_chars_per_token=most,
            use_unknown_token=unknown,
            unknown_token="[UNK]",
            split_unknown_characters=split,
            output_row_partition_type="row_splits" if most else "row_lengths",
        )


def op_calls() -> list[dict[str, Any]]:
    texts = np.concatenate([encoded(TEXTS), drawn(60, 0)])
    return [*calls_of_normalization(texts), *calls_of_tokenizers(texts), *calls_of_ngrams(), *calls_of_wordpieces()]


class Bert(tf.Module):
    """``BertTokenizer`` with offsets, which gives a ragged tensor's parts."""

    def __init__(self, vocabulary: str, **options: Any) -> None:
        super().__init__()
        self.tokenizer = text.BertTokenizer(vocabulary, **options)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def serve(self, texts: Any) -> Any:
        tokens, begin, end = self.tokenizer.tokenize_with_offsets(texts)
        return {
            "tokens": tokens.flat_values,
            "pieces": tokens.values.row_splits,
            "words": tokens.row_splits,
            "begin": begin.flat_values,
            "end": end.flat_values,
        }


class BertInputs(tf.Module):
    """What BERT takes: pairs of texts, trimmed, with [CLS] and [SEP], and padded."""

    def __init__(self, vocabulary: str) -> None:
        super().__init__()
        self.tokenizer = text.BertTokenizer(vocabulary, lower_case=True)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="texts"),
            tf.TensorSpec([None], tf.string, name="others"),
        ]
    )
    def serve(self, texts: Any, others: Any) -> Any:
        parts = [self.tokenizer.tokenize(each).merge_dims(-2, -1) for each in (texts, others)]
        trimmed = [each[:, :10] for each in parts]
        ids, types = text.combine_segments(trimmed, VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]"))
        ids, mask = text.pad_model_inputs(ids, 24)
        types, _ = text.pad_model_inputs(types, 24)
        return {"ids": ids, "mask": mask, "types": types}


class Words(tf.Module):
    """Whitespace and n-grams; scripts; sentences at newlines."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def serve(self, texts: Any) -> Any:
        normal = text.normalize_utf8(texts, "NFKC")
        words, begin, end = text.WhitespaceTokenizer().tokenize_with_offsets(normal)
        pairs = text.ngrams(words, 2, reduction_type=text.Reduction.STRING_JOIN, string_separator="_")
        scripts, starts, limits = text.UnicodeScriptTokenizer().tokenize_with_offsets(texts)
        lines = text.RegexSplitter("[.\n]").split(texts)
        return {
            "words": words.flat_values,
            "word_splits": words.row_splits,
            "begin": begin.flat_values,
            "end": end.flat_values,
            "pairs": pairs.flat_values,
            "pair_splits": pairs.row_splits,
            "scripts": scripts.flat_values,
            "script_splits": scripts.row_splits,
            "starts": starts.flat_values,
            "limits": limits.flat_values,
            "lines": lines.flat_values,
            "line_splits": lines.row_splits,
        }


def models(vocabulary: str) -> Iterator[tuple[str, Any, Sequence[Mapping[str, Any]]]]:
    texts = encoded(TEXTS)
    calls = [{"texts": texts[:2]}, {"texts": texts}, {"texts": texts[1:2]}, {"texts": texts[3:6]}]
    yield "bert_lower", Bert(vocabulary, lower_case=True), calls
    options = {"token_out_type": tf.string, "split_unknown_characters": True, "keep_whitespace": True}
    yield "bert_strings", Bert(vocabulary, preserve_unused_token=True, normalization_form="NFC", **options), calls
    pairs = [{"texts": texts[:3], "others": texts[2:5]}, {"texts": texts, "others": texts[::-1].copy()}]
    yield "bert_inputs", BertInputs(vocabulary), [*pairs, {"texts": texts[1:2], "others": texts[:1]}]
    yield "words", Words(), calls


def record(name: str, module: Any, calls: Sequence[Mapping[str, Any]], folder: Path, archive: zipfile.ZipFile) -> None:
    # Without assertions, which would be most of the file.
    options = tf.saved_model.SaveOptions(experimental_debug_stripper=True)
    tf.saved_model.save(module, str(folder), signatures=module.serve, options=options)
    for each in sorted(folder.rglob("*")):
        if each.is_file() and each.name != "fingerprint.pb":
            archive.write(each, f"{name}/model/{each.relative_to(folder)}")
    recorded = [
        {
            "inputs": {key: written(value) for key, value in call.items()},
            "outputs": {
                key: written(value.numpy())
                for key, value in module.serve(**{key: tf.constant(value) for key, value in call.items()}).items()
            },
        }
        for call in calls
    ]
    archive.writestr(f"{name}/calls.json", json.dumps(recorded))


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(OUTPUT, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
    ):
        archive.writestr("ops.json", json.dumps(op_calls()))
        vocabulary = Path(folder) / "vocabulary.txt"
        vocabulary.write_text("\n".join(VOCABULARY) + "\n")
        for name, module, calls in models(str(vocabulary)):
            record(name, module, calls, Path(folder) / name, archive)
    print(f"{OUTPUT}: {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
