"""Write the tables of the page about TFLiteConverter: ``python -m scripts.write_names_table``."""

from __future__ import annotations

from tests.tools.compat.names_page import PAGE, page


def main() -> None:
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
