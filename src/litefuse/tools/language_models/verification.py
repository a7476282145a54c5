"""Comparison of a bundle with the model that it was made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from litefuse.conversion.verify.verification import OutputVerdict, Verification
from litefuse.errors import LitefuseError
from litefuse.frontends.language_models.files import in_keras
from litefuse.frontends.language_models.reference import Reference, ReferenceJob, ask_keras
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.process import run_alone
from litefuse.tools.language_models.bundle import read_bundle
from litefuse.tools.language_models.engine import Answers, EngineJob, ask_engine
from litefuse.tools.language_models.steps import ComparedPrompt, ForcedPrompt, compare_steps

_WRITTEN = 32
_TOLERANCE = 1e-3


def verify_bundle(
    path: Path, original: Path, *, max_error: float | None = None, on_step: Callable[[str], None] = lambda _: None
) -> Verification:
    """Compares a bundle with the model in Keras Hub that it was made of.

    Its start and stop tokens must be those of the model. Its tokenizer must encode and decode texts in many scripts,
    and pieces of the vocabulary, as Keras Hub's does. After prompts of one token, at the border of a chunk, of several
    chunks, and near the end of the context, its logits must be the model's; and LiteRT-LM's engine must write what
    these say.

    Args:
        path: The bundle.
        original: The ``.keras`` file of the model, or the folder of its preset.
        max_error: The largest difference of logits, relative to the largest, for which it may also write other tokens;
            None: 0.001, and it must write the same tokens.
        on_step: Called with the name of each step at its start.

    Raises:
        LitefuseError: One of them cannot be read or run, or a package is missing.
    """
    bundle = read_bundle(path)
    with make_temporary_folder() as folder, bundle.opened() as model:
        keys = [signature.key for signature in inspect_litert_model(model).signatures]
        chunk = max((int(key.rpartition("_")[2]) for key in keys if key.startswith("prefill_")), default=1)
        first = len(bundle.start) + 1
        lengths = sorted({first, chunk, chunk + 1, chunk + 2, 2 * chunk + 3, bundle.context - 8})
        job = ReferenceJob(original.absolute(), Path(folder), bundle.context, lengths, _WRITTEN)
        reference: Reference = in_keras(ask_keras, job, original, on_step)
        ends = [tokens[0] for tokens in bundle.stop if len(tokens) == 1]
        prompts = [ForcedPrompt(prompt.tokens, prompt.written, ends, prompt.logits) for prompt in reference.prompts]
        if not prompts:
            raise LitefuseError("the bundle's context leaves no space for prompts", where=str(path))
        target = f"{compare_steps.__module__}:{compare_steps.__name__}"
        steps: list[ComparedPrompt] = run_alone(target, (model, prompts), environment={}, announce=on_step)
        alone = list(dict.fromkeys(token for step in steps for token in step.written))
        decoding = [*reference.encoded, *(step.written for step in steps), *([token] for token in alone)]
        texts = [prompt.text for prompt in reference.prompts]
        answers = ask_engine(EngineJob(path, texts, reference.texts, decoding, _WRITTEN))
    marks = reference.start, {(token,) for token in reference.stop}
    told = f"{bundle.start} and {sorted(bundle.stop)}, not {marks[0]} and {sorted(marks[1])}"
    same = (bundle.start, {*bundle.stop}) == marks
    outputs = [
        *_tokenizer(reference, answers),
        _verdict("metadata", "start and stop tokens", (2, "int32"), float(not same), 0, 0.0, "" if same else told),
    ]
    tolerance, allowed = (_TOLERANCE, 0.0) if max_error is None else (max_error, 1.0)

    def tokens(name: str, equal: int, count: int, number: int = 0) -> OutputVerdict:
        share = equal / max(count, 1)
        told = f"{equal} of {count} are the model's, {share:.1%}"
        return _verdict("decode", name, (count, "int32"), 1 - share if count else 0.0, number, allowed, told)

    written = answers.decoded[len(reference.texts) :]
    # The engine gives texts up to a null character.
    silent = {token for token, text in zip(alone, written[len(steps) :], strict=True) if not text}
    for number, (prompt, step) in enumerate(zip(reference.prompts, steps, strict=True), 1):
        after, count = f"after {len(prompt.tokens)} tokens", len(prompt.written)
        ended = step.ended and not silent & {*step.written}
        outputs += [
            _verdict("decode", f"logits {after}", (count, "float32"), step.error, number, tolerance),
            tokens(f"tokens {after}", step.equal, count, number),
            _text(f"text {after}", written[number - 1], answers.written[number - 1], number, ended=ended),
        ]
    count = sum(len(prompt.written) for prompt in reference.prompts)
    outputs.append(tokens("tokens in all", sum(step.equal for step in steps), count))
    return Verification(str(path), str(original), tolerance, len(prompts), tuple(outputs))


def _tokenizer(reference: Reference, answers: Answers) -> Sequence[OutputVerdict]:
    """Returns the verdicts on the tokens of texts, and the texts of tokens."""
    verdicts: list[OutputVerdict] = []
    count = len(reference.texts)
    pairs = (
        ("tokens of texts", [*map(list, reference.encoded)], answers.encoded),
        ("texts of tokens", reference.decoded, answers.decoded[:count]),
    )
    for name, wanted, given in pairs:
        wrong = [place for place, (one, other) in enumerate(zip(wanted, given, strict=True)) if one != other]
        problem = f"{count - len(wrong)} of {count} are equal"
        if wrong:
            place = wrong[0]
            problem += f"; of {reference.texts[place]!r}, {given[place]!r}, not {wanted[place]!r}"
        verdicts.append(_verdict("tokenizer", name, (count, "string"), len(wrong) / count, 0, 0.0, problem))
    return verdicts


def _text(name: str, expected: str, text: str, number: int, *, ended: bool) -> OutputVerdict:
    """Returns the verdict on what the engine wrote, which goes on behind what is compared unless the model ended it."""
    expected = expected.rstrip("\ufffd")  # the beginning of a letter that the next token would end
    same = text.rstrip("\ufffd") == expected if ended else text.startswith(expected)
    problem = "" if same else f"the engine writes {text[: len(expected)]!r}, not {expected!r}"
    return _verdict("engine", name, (1, "string"), float(not same), number, 0.0, problem)


def _verdict(
    part: str, name: str, kind: tuple[int, str], error: float, number: int, allowed: float, told: str = ""
) -> OutputVerdict:
    count, dtype = kind
    return OutputVerdict(part, name, dtype, (count,), error, number, told, "equal" if error <= allowed else "differs")
