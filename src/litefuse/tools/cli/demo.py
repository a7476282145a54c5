"""``litefuse demo``."""

from __future__ import annotations

import click

from litefuse.errors import LitefuseError
from litefuse.tools.cli.output import print_sections, progress

__all__ = ["demo"]


@click.command
def demo() -> None:
    """Convert, run and check a small model.

    The model comes with litefuse, along with TensorFlow's results for it. The converted model runs in the stock LiteRT
    interpreter, its custom op with a kernel in Python, and every output is compared.
    """
    from litefuse.conversion.api import convert
    from litefuse.support.report.conversion_sections import report_sections
    from litefuse.support.report.sections import Section
    from litefuse.tools.demo import SAVED_MODEL

    with progress("Converting the demo") as on_step:
        result = convert(SAVED_MODEL, require_fused=True, on_step=on_step)
    print_sections(report_sections(result.report))
    click.echo()

    from litefuse.tools.demo.check import compare

    comparisons = compare(result.model_bytes)
    print_sections(
        [
            Section(
                "Stock interpreter, with a Python kernel, against TensorFlow",
                [
                    (
                        f"{comparison.call}",
                        comparison.signature,
                        f"{comparison.batch}",
                        comparison.output,
                        f"{comparison.max_error:.1e}",
                        "ok" if comparison.equal else f"DIFFERS: {comparison.problem}",
                    )
                    for comparison in comparisons
                ],
                headings=("call", "signature", "batch", "output", "max error", ""),
                right=frozenset({0, 2, 4}),
                judgements=["good" if comparison.equal else "bad" for comparison in comparisons],
            )
        ]
    )
    different = sum(not comparison.equal for comparison in comparisons)
    if different:
        raise LitefuseError(f"{different} of {len(comparisons)} outputs differ from TensorFlow's")
    click.echo("\nOK")
