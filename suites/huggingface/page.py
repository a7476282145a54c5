"""``python -m suites.huggingface.page``: runs the code of docs/guides/hugging-face.md, in a process with transformers.

All its Python is one program, in a file: generate() needs the source of the functions that call it. Afterwards the
tokens of each way to write are compared with those of TensorFlow, and the commands are run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

_PAGE = Path(__file__).parents[2] / "docs" / "guides" / "hugging-face.md"
_CHECKS = """
expected = decoder.generate(np.array([tokens[:3]], np.int32), max_new_tokens=8, do_sample=False, pad_token_id=0)
assert expected.numpy().tolist() == [tokens], (expected, tokens)

model = litefuse.Interpreter("writer.tflite")
for key in ("greedy", "beam", "sample"):
    for padding in (0, 3, 0):
        ids = np.arange(8, dtype=np.int32)[None] * 5 + 2
        mask = (np.arange(8, dtype=np.int32)[None] >= padding).astype(np.int32)
        inputs = {"input_ids": ids * mask, "attention_mask": mask}
        if key == "sample":
            inputs["seed"] = np.array([3, 4 + padding], np.int32)
        written = model.get_signature_runner(key)(**inputs)["sequences"]
        expected = getattr(writer, key)(**inputs)["sequences"].numpy()
        assert np.array_equal(written, expected), (key, padding, written, expected)

assert "CUSTOM" not in generating.report.op_counts
assert not any(each.report.custom_ops for each in (result, fixed, embedder, steps, translating, generating, small))
"""


def main() -> None:
    """Runs the page in a temporary folder.

    Raises:
        subprocess.CalledProcessError: Something on the page does not work.
    """
    text = _PAGE.read_text("utf-8")
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "page.py").write_text("\n".join([*_blocks(text, "python"), _CHECKS]), "utf-8")
        subprocess.run([sys.executable, "page.py"], cwd=folder, env=environment, check=True)
        for command in "".join(_blocks(text, "sh")).splitlines():
            if command.startswith("litefuse "):
                subprocess.run([sys.executable, "-m", *shlex.split(command)], cwd=folder, env=environment, check=True)


def _blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


if __name__ == "__main__":
    main()
