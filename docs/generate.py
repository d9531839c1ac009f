"""`python -m docs.generate` writes the pages of docs/reference again, from the code that they describe.

It also writes the rules of the role that reads, in cronjob/base, from the table of kinds, the README of the chart from
the schema of its values, the chart's profiles, alerts and dashboard, and the outputs of commands in the README and the
tutorial. With `--conformance` it runs the recorded cases and writes their table as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from docs.generator import (
    chart_files,
    chart_page,
    cli_page,
    conformance_page,
    gates_page,
    kinds_page,
    metrics_page,
    outcomes_page,
    plan_page,
    plugins_page,
    reasons_page,
)
from docs.generator.read_rules import with_read_rules
from docs.generator.sessions import refreshed
from docs.generator.workshop import workshop

REFERENCE = Path(__file__).parent / "reference"
"""Where the pages are kept."""

PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli_page.make_page,
    "feature-gates.md": gates_page.make_page,
    "kinds.md": kinds_page.make_page,
    "metrics.md": metrics_page.make_page,
    "outcomes.md": outcomes_page.make_page,
    "plan.md": plan_page.make_page,
    "plugins.md": plugins_page.make_page,
    "reasons.md": reasons_page.make_page,
}
"""File name → what makes its content; all of them must be up to date in every commit."""

ROLES = Path(__file__).parents[1] / "cronjob" / "base" / "rbac.yaml"
"""The manifest that holds the rules."""

CHART_README = chart_page.CHART / "README.md"
"""The page beside the chart, which `helm show readme` prints."""

SESSIONS: Mapping[Path, bool] = {
    Path(__file__).parents[1] / "README.md": False,
    Path(__file__).parent / "tutorial.md": True,
    Path(__file__).parent / "how-to" / "koordinator.md": False,
    Path(__file__).parent / "how-to" / "volcano.md": False,
    Path(__file__).parent / "how-to" / "simulate.md": False,
    Path(__file__).parent / "explanation" / "one-gpu-pod.md": True,
}
"""Pages with outputs of commands → whether all commands are run, or only those whose output is shown."""

_VECTORS = Path(__file__).parents[1] / "tests" / "conformance" / "vectors"


def session(page: Path) -> str:
    """The page with the outputs that its commands give now. Raises SessionError when one does not do what it says."""
    with workshop() as run:
        return refreshed(page.read_text("utf-8"), run, runs_all=SESSIONS[page])


def main() -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument(
        "--conformance", nargs="*", type=Path, metavar="FILE", help="also run these cases, by default the carried ones"
    )
    options = parser.parse_args()
    for name, make_page in PAGES.items():
        (REFERENCE / name).write_text(make_page(), "utf-8")
    ROLES.write_text(with_read_rules(ROLES.read_text("utf-8")), "utf-8")
    CHART_README.write_text(chart_page.make_page(), "utf-8")
    for name, content in chart_files.chart_files().items():
        (chart_page.CHART / name).parent.mkdir(exist_ok=True)
        (chart_page.CHART / name).write_text(content, "utf-8")
    for page in SESSIONS:
        page.write_text(session(page), "utf-8")
    if options.conformance is not None:
        files = options.conformance or sorted(_VECTORS.glob("*.jsonl.gz"))
        (REFERENCE / "conformance.md").write_text(conformance_page.make_page(files), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
