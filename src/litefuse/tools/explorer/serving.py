"""The process in which Model Explorer's server runs.

The first line of standard input says what to show. When the input ends, so does the process.
"""

from __future__ import annotations

import json
import os
import sys
import threading

import model_explorer


def serve() -> None:
    """Serves a model with its node data until an interrupt."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    config = model_explorer.config()
    config.add_model_from_path(job["model"], job["adapter"])
    for name, content in job["data"]:
        config.add_node_data(name, content)
    model_explorer.visualize_from_config(
        config, host=job["host"], port=job["port"], no_open_in_browser=not job["opens"]
    )


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve()
