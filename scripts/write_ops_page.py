"""Write ``docs/reference/ops.md`` from verdicts and registries: ``python -m scripts.write_ops_page``."""

from __future__ import annotations

from tests.tensorflow.op_suite.page import PAGE, page


def main() -> None:
    PAGE.write_text(page())
    print(f"{PAGE}: {len(page().splitlines())} lines")


if __name__ == "__main__":
    main()
