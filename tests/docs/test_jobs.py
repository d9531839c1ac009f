from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.docs.pages import ROOT, blocks, pages

_MANIFESTS = [file for folder in ("base", "overlays") for file in sorted((ROOT / "cronjob" / folder).rglob("*.yaml"))]
_PAGES = [*pages(), ROOT / "cronjob" / "README.md"]


def jobs(texts: list[tuple[str, str]]) -> Iterator[tuple[str, dict[str, object]]]:
    """Place and spec of each Job, those of CronJobs included."""
    for place, text in texts:
        for document in yaml.safe_load_all(text):
            if not isinstance(document, dict):
                continue
            if document.get("kind") == "Job":
                yield place, document["spec"]
            elif document.get("kind") == "CronJob":
                yield place, document["spec"]["jobTemplate"]["spec"]


def shown_manifests() -> list[tuple[str, str]]:
    """Place and text of all YAML with a Job: in pages, and in files that are not templates."""
    shown = [(str(page.relative_to(ROOT)), block) for page in _PAGES for block in blocks(page, "yaml")]
    files = [(str(file.relative_to(ROOT)), file.read_text("utf-8")) for file in _MANIFESTS]
    return [(place, text) for place, text in (*shown, *files) if "Job" in text]


@pytest.mark.parametrize(
    ("place", "spec"), [pytest.param(place, spec, id=place) for place, spec in jobs(shown_manifests())]
)
def test_no_shown_job_is_ever_repeated(place: str, spec: dict[str, object]) -> None:
    assert spec.get("backoffLimit") == 0, f"{place}: a second try can evict up to all limits again"


def test_jobs_are_found_in_pages_and_manifests() -> None:
    assert {Path(place).suffix for place, _ in jobs(shown_manifests())} == {".md", ".yaml"}


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/limit-and-pace.md", "docs/explanation/how-a-run-goes.md"])
def test_pages_on_exit_codes_say_that_stopped_runs_can_have_evicted(page: str) -> None:
    text = " ".join((ROOT / page).read_text("utf-8").split())

    assert "4, 130 and 143 can follow evictions" in text
    assert "backoffLimit: 0" in text
