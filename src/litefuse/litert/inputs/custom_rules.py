"""Rules for custom ops of litefuse's pack and of the runtime: how values flow through them."""

from __future__ import annotations

from litefuse.litert.inputs.flow import Place, Results, Rule
from litefuse.litert.inputs.uses import Expression, Limits, Meaning, Numerals, Text, Words


def _same(place: Place) -> Results:
    return place.traces()


def _expression(place: Place) -> Results:
    """Notes the pattern, which is an option or a constant operand."""
    pattern = place.op.custom_options.get("pattern")
    constant = place.constant(1) if pattern is None else None
    if constant is not None and constant.size == 1:
        pattern = constant.reshape(-1)[0].decode("utf-8", "replace")
    if isinstance(pattern, str):
        place.use(0, Expression(pattern))
    return place.traces()


def _split(place: Place) -> Results:
    """Forwards the pieces as the second result; the delimiter is an operand, empty for white space."""
    delimiter = place.constant(1)
    at = bytes(delimiter.reshape(-1)[0]) if delimiter is not None and delimiter.size else b""
    if place.op.name == "StringSplit":
        at = at[:1]  # each of its characters is one
    place.use(0, Text(at))
    return {1: [trace._replace(delimiter=at, axes=None) for trace in place.traces()]}


def _tokens(place: Place) -> Results:
    place.use(0, Text(b""))
    return {0: [trace._replace(delimiter=b"", axes=None) for trace in place.traces()]}


def _text(place: Place) -> Results:
    place.use(0, Text(b""))
    return ()


def _wordpieces(place: Place) -> Results:
    """Notes that words begin with those of the vocabulary."""
    vocabulary, suffix = place.constant(1), place.op.custom_options.get("suffix_indicator")
    if vocabulary is not None and isinstance(suffix, str):
        keys = tuple(
            word for word in vocabulary.reshape(-1).tolist() if not suffix or not word.startswith(suffix.encode())
        )
        for trace in place.traces() if keys else ():
            place.flow.note(trace, Words(keys, trace.delimiter))
    return ()


def _number(place: Place) -> Results:
    dtype = place.result().dtype
    place.use(0, Numerals("integer" if dtype is not None and dtype.kind in "iu" else "number"))
    return ()


def _numerals(kind: str) -> Rule:
    def rule(place: Place) -> Results:
        place.use(0, Numerals(kind))
        return ()

    return rule


def _joined(place: Place) -> Results:
    return [trace._replace(axes=None) for operand in range(len(place.values)) for trace in place.traces(operand)]


def _selected(place: Place) -> Results:
    return [*place.traces(1), *place.traces(2)]


def _characters(place: Place) -> Results:
    place.restrict(0, Limits(32, 0x4FF))
    for operand in range(1, len(place.values)):
        place.restrict(operand, Meaning.SMALL)
    return ()


def _boxes(place: Place) -> Results:
    """Notes that anchors are positive: boxes are encoded relative to their places and sizes."""
    place.use(2, Meaning.POSITIVE)
    return ()


def _any(place: Place) -> Results:
    del place
    return ()


CUSTOM_RULES: dict[str, Rule] = {
    **dict.fromkeys(["StringLower", "StringUpper", "StringStrip", "UnicodeTranscode", "AsString"], _same),
    **dict.fromkeys(["CaseFoldUTF8", "NormalizeUTF8"], _same),
    **dict.fromkeys(["StaticRegexReplace", "RegexReplace", "StaticRegexFullMatch", "RegexFullMatch"], _expression),
    **dict.fromkeys(["StringSplit", "StringSplitV2"], _split),
    **dict.fromkeys(
        ["tftext:WhitespaceTokenizer", "TFText>WhitespaceTokenizeWithOffsetsV2", "RegexSplitWithOffsets"], _tokens
    ),
    "WordpieceTokenizeWithOffsets": _wordpieces,
    **dict.fromkeys(["UnicodeScript", "UnicodeScriptTokenizeWithOffsets"], _characters),
    **dict.fromkeys(["tftext:Ngrams", "TFText>NgramsStringJoin", "UnicodeDecode", "UnicodeDecodeWithOffsets"], _text),
    "StringToNumber": _number,
    "DecodeBase64": _numerals("base64"),
    **dict.fromkeys(["DecodeRaw", "DecodePaddedRaw"], _numerals("raw")),
    **dict.fromkeys(["ConcatV2", "Pack"], _joined),
    **dict.fromkeys(["SelectV2", "Select"], _selected),
    "UnicodeEncode": _characters,
    "TFLite_Detection_PostProcess": _boxes,
    **dict.fromkeys(
        [
            *("EncodeBase64", "Erf", "StringJoin", "ReduceJoin", "StringLength"),
            *("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"),
        ],
        _any,
    ),
}
