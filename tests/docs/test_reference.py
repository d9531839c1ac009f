from __future__ import annotations

import pytest

from docs.generate import CHART_README, PAGES, REFERENCE, ROLES
from docs.generator import chart_files, chart_page
from docs.generator.read_rules import with_read_rules


@pytest.mark.parametrize("name", PAGES)
def test_reference_page_is_what_the_code_says(name: str) -> None:
    made = PAGES[name]()

    assert (REFERENCE / name).read_text("utf-8") == made, f"{name} is stale; run python -m docs.generate"


def test_every_reference_page_is_generated() -> None:
    kept = {page.name for page in REFERENCE.glob("*.md")}

    assert kept == {*PAGES, "conformance.md"}


def test_readme_of_the_chart_is_what_the_schema_of_its_values_says() -> None:
    made = chart_page.make_page()

    assert CHART_README.read_text("utf-8") == made, "the chart's README.md is stale; run python -m docs.generate"


def test_files_of_the_chart_are_what_profiles_metrics_and_plugins_say() -> None:
    made = (
        path for folder in ("profiles", "schedulers", "monitoring") for path in (chart_page.CHART / folder).iterdir()
    )
    kept = {
        str(path.relative_to(chart_page.CHART)): path.read_text("utf-8")
        for path in (*made, chart_page.CHART / "templates" / "_readers.tpl")
    }

    assert kept == chart_files.chart_files(), "files of the chart are stale; run python -m docs.generate"


def test_rules_of_the_role_that_reads_are_what_the_table_of_kinds_says() -> None:
    text = ROLES.read_text("utf-8")

    assert with_read_rules(text) == text, f"{ROLES.name} is stale; run python -m docs.generate"


def test_manifest_without_a_place_for_the_rules_is_refused() -> None:
    with pytest.raises(ValueError, match="no comments"):
        with_read_rules("rules:\n")
