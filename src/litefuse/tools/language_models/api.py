"""Public function ``language_model()``."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from litefuse.conversion.api import convert
from litefuse.frontends.language_models.files import PartsJob, write_parts
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import check_file
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.declared import takes
from litefuse.support.options.language_model import LanguageModel
from litefuse.support.progress.show import shown_progress
from litefuse.support.result import ConversionResult
from litefuse.tools.language_models.bundle import Metadata, check_builder, pack


@takes(LanguageModel)
def language_model(model: object, options: LanguageModel) -> ConversionResult:
    """Makes a bundle for LiteRT-LM of a language model: the converted model, its tokenizer, and metadata.

    The model has a signature ``prefill_N`` for each N of ``prefill``, which takes N tokens of a prompt, and ``decode``,
    which takes one token and gives the logits of the next. Both take and give caches of keys and values.

    Args:
        model: A ``CausalLM`` of Keras Hub, on TensorFlow or JAX; the path of its ``.keras`` file, or of the folder of a
            preset; or a ``litefuse.Decoder``.
        options: Each of them is an argument.

    Returns:
        The bundle and the report of the conversion.

    Raises:
        LitefuseError: It is none of these, its tokenizer is of a kind that LiteRT-LM does not have, or the package
            litert-lm-builder is missing.
        ConversionError: It cannot be converted.
    """
    check_builder()
    template = None if options.chat_template is None else check_file(os.fspath(options.chat_template))
    metadata = Metadata(options.model_type, None if template is None else template.read_text("utf-8"))
    tokenizer = None if options.tokenizer is None else Path(os.fspath(local(options.tokenizer)))
    folder = make_temporary_folder()
    job = PartsJob(Path(folder.name), options.context, options.prefill, tokenizer)
    path = Path(folder.name, "model.litertlm")
    what = model if isinstance(model, str | Path) else f"a {type(model).__name__}"
    with shown_progress(f"Converting {what}", show=options.progress, also=options.on_step) as on_step:
        parts = write_parts(local(model), job, on_step)
        converted = convert(
            parts.saved_model, target=options.target, quantize=options.quantize, dtypes="widen", on_step=on_step
        )
        shutil.rmtree(parts.saved_model)  # which is as large as the bundle
        on_step("pack")
        pack(path, converted.path, parts, metadata)
    report = replace(converted.report, source=parts.name or "a CausalLM of Keras Hub")
    return ConversionResult(report, path, folder)
