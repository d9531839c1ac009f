from __future__ import annotations

import pytest

from docs.generate import PAGES, REFERENCE


@pytest.mark.parametrize("name", PAGES)
def test_reference_page_is_what_the_code_says(name: str) -> None:
    made = PAGES[name]()

    assert (REFERENCE / name).read_text("utf-8") == made, f"{name} is stale; run python -m docs.generate"


def test_every_reference_page_is_generated() -> None:
    kept = {page.name for page in REFERENCE.glob("*.md")}

    assert kept == {*PAGES, "conformance.md"}
