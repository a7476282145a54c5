"""Bundles of LiteRT-LM, written and read with the package litert-lm-builder."""

from __future__ import annotations

import importlib
import io
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.errors import LitefuseError
from litefuse.frontends.language_models.files import Parts
from litefuse.frontends.language_models.tokenizers import HUGGING_FACE
from litefuse.frontends.writer import describe_error
from litefuse.support.files.readable import check_file
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.report.sections import Section, count_of
from litefuse.tools.language_models import is_bundle
from litefuse.version import __version__

INSTALL = "pip install 'litefuse[lm]'"
_PIECE = 1 << 20


class Metadata(NamedTuple):
    """A user's choices for a bundle.

    Attributes:
        model_type: The name of the family in LiteRT-LM's metadata.
        template: The Jinja template of conversations; None for none.
    """

    model_type: str
    template: str | None


class BundleSection(NamedTuple):
    """A section of a bundle.

    Attributes:
        kind: Its kind, as the format calls it.
        begin: The offset of its first byte.
        size: Its bytes.
        role: What a model is for, as the format calls it; empty for other sections.
    """

    kind: str
    begin: int
    size: int
    role: str


@dataclass(frozen=True)
class Bundle:
    """A bundle that was read.

    Attributes:
        path: Its file.
        sections: Its sections.
        context: How many tokens the model knows at once; 0 if it is not said.
        start: The tokens that stand before each prompt.
        stop: The tokens that end a text.
        model_type: The family, as LiteRT-LM knows it.
    """

    path: Path
    sections: Sequence[BundleSection]
    context: int
    start: tuple[int, ...]
    stop: tuple[tuple[int, ...], ...]
    model_type: str

    @contextmanager
    def opened(self) -> Generator[Path]:
        """Yields the LiteRT model, in a temporary file that has its name."""
        sections = [section for section in self.sections if section.kind == "TFLiteModel"]
        if len(sections) != 1:
            raise LitefuseError(
                f"the bundle has {count_of(len(sections), 'LiteRT model')}, not one", where=str(self.path)
            )
        with make_temporary_folder() as folder:
            path = Path(folder, f"{self.path.stem}.tflite")
            with self.path.open("rb") as bundle, path.open("wb") as file:
                bundle.seek(sections[0].begin)
                for left in range(sections[0].size, 0, -_PIECE):
                    file.write(bundle.read(min(left, _PIECE)))
            yield path


def check_builder() -> Any:
    """Imports litert-lm-builder.

    Raises:
        LitefuseError: It is missing.
    """
    try:
        return importlib.import_module("litert_lm_builder")
    except ImportError as error:
        raise LitefuseError(f"bundles need litert-lm-builder: {describe_error(error)}", hint=INSTALL) from error


def pack(path: Path, model: Path, parts: Parts, metadata: Metadata) -> None:
    """Writes a bundle.

    Args:
        path: The file to write.
        model: The LiteRT model.
        parts: The tokenizer, and the tokens that start and end texts.
        metadata: What the user says of it.

    Raises:
        LitefuseError: LiteRT-LM has no such family.
    """
    builder_package = check_builder()
    written = path.parent / "metadata.pb"
    written.write_bytes(_metadata(parts, metadata).SerializeToString())
    builder: Any = builder_package.LitertLmFileBuilder()
    entry: Any = builder_package.Metadata
    builder.add_system_metadata(
        entry(key="converter", value=f"litefuse {__version__}", dtype=builder_package.DType.STRING)
    )
    builder.add_llm_metadata(str(written))
    add = builder.add_hf_tokenizer if parts.tokenizer.name == HUGGING_FACE else builder.add_sentencepiece_tokenizer
    add(str(parts.tokenizer))
    builder.add_tflite_model(str(model), builder_package.TfLiteModelType.PREFILL_DECODE)
    with path.open("wb") as stream:
        builder.build(stream)


def _metadata(parts: Parts, said: Metadata) -> Any:
    metadata = _message()
    if parts.start:
        metadata.start_token.token_ids.ids.extend(parts.start)
    for token in parts.stop:
        metadata.stop_tokens.add().token_ids.ids.append(token)
    metadata.max_num_tokens = parts.context
    metadata.supports_thinking = metadata.supports_function_calling = False
    families = metadata.llm_model_type.DESCRIPTOR.fields_by_name
    if said.model_type not in families:
        raise LitefuseError(
            f"LiteRT-LM has no model type {said.model_type!r}", hint=f"It has {', '.join(sorted(families))}."
        )
    getattr(metadata.llm_model_type, said.model_type).SetInParent()
    if said.template is not None:
        metadata.jinja_prompt_template = said.template
    return metadata


def _message() -> Any:
    return importlib.import_module("litert_lm_builder.runtime.proto.llm_metadata_pb2").LlmMetadata()


def read_bundle(path: Path) -> Bundle:
    """Reads what is in a bundle.

    Raises:
        LitefuseError: It is damaged, or the package litert-lm-builder is missing.
    """
    check_builder()
    check_file(path)
    core: Any = importlib.import_module("litert_lm_builder.litertlm_core")
    peek: Any = importlib.import_module("litert_lm_builder.litertlm_peek")
    try:
        header = peek.read_litertlm_header(str(path), io.StringIO()).SectionMetadata()
        sections = [
            BundleSection(
                core.any_section_data_type_to_string(section.DataType()),
                section.BeginOffset(),
                section.EndOffset() - section.BeginOffset(),
                peek.get_model_type(section) or "",
            )
            for section in (header.Objects(index) for index in range(header.ObjectsLength()))
        ]
        metadata = _message()
        for section in sections:
            if section.kind == "LlmMetadataProto":
                with path.open("rb") as file:
                    file.seek(section.begin)
                    metadata.ParseFromString(file.read(section.size))
    except Exception as error:  # of a damaged file, any
        raise LitefuseError(f"the bundle is damaged: {describe_error(error)}", where=str(path)) from error
    return Bundle(
        path,
        sections,
        metadata.max_num_tokens,
        tuple(metadata.start_token.token_ids.ids),
        tuple(tuple(stop.token_ids.ids) for stop in metadata.stop_tokens),
        metadata.llm_model_type.WhichOneof("model_type") or "",
    )


@contextmanager
def opened_model(path: Path) -> Generator[tuple[Path, list[Section]]]:
    """Yields the file of a model, with no sections; of a bundle, its model in a file, and a table of what is in it."""
    if path.suffix != ".litertlm" and not is_bundle(path):
        yield path, []
        return
    bundle = read_bundle(path)
    with bundle.opened() as model:
        yield model, [_section_of(bundle)]


def _section_of(bundle: Bundle) -> Section:
    start, stop = "+".join(map(str, bundle.start)), ", ".join("+".join(map(str, tokens)) for tokens in bundle.stop)
    return Section(
        f"Bundle for LiteRT-LM: {bundle.path}",
        [
            *((part.kind, f"{part.size:,} bytes", part.role) for part in bundle.sections),
            ("context", f"{bundle.context:,} tokens", ""),
            ("start", start or "none", ""),
            ("stop", stop or "none", ""),
            ("model type", bundle.model_type, ""),
        ],
    )
