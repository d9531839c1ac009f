"""What one run leaves for the next, as a value and as text."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.plan.run_memory import MOST_BYTES, NO_MEMORY, PluginMemory, RunMemory, RunMemoryError
from tests.builders import NOW

NOTES = {("p", "A"): b'{"x":1}', ("p", "B"): b'["y"]'}
PLUGINS = list(NOTES)


def test_a_plugin_finds_its_own_note_and_when_it_was_left() -> None:
    memory = RunMemory().after(NOW, NOTES, PLUGINS)

    assert memory.of("p", "A") == PluginMemory(b'{"x":1}', NOW)
    assert memory.of("other", "A") == PluginMemory(b"", NOW)


def test_text_gives_the_memory_back() -> None:
    memory = RunMemory().after(NOW + timedelta(microseconds=7), NOTES, PLUGINS)

    assert RunMemory.decoded(memory.encoded()) == memory


def test_note_of_a_plugin_that_did_not_run_stays_and_that_of_one_that_is_gone_does_not() -> None:
    before = RunMemory().after(NOW, NOTES, PLUGINS)

    memory = before.after(NOW + timedelta(minutes=5), {}, [("p", "A")])

    assert memory == RunMemory(NOW + timedelta(minutes=5), {"p/A": b'{"x":1}'})


def test_empty_notes_are_not_kept() -> None:
    assert RunMemory().after(NOW, {("p", "A"): b""}, PLUGINS).notes == {}


def test_run_without_memory_says_why_to_plugins() -> None:
    assert NO_MEMORY.after(NOW, NOTES, PLUGINS).of("p", "A").missing == "earlier runs are not taken into account here"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "it is damaged", id="nothing"),
        pytest.param("{", "it is damaged", id="cut short"),
        pytest.param("[]", "it is damaged", id="another shape"),
        pytest.param("[" * 100_000, "it is damaged", id="too deep"),
        pytest.param(
            '{"version": "descheduler.memory/v9", "savedAt": "2026-01-01T00:00:00Z", "notes": {}}',
            "it is of version 'descheduler.memory/v9', not 'descheduler.memory/v1'",
            id="another version",
        ),
        pytest.param(
            '{"version": "descheduler.memory/v1", "savedAt": "2026-01-01T00:00:00", "notes": {}}',
            "savedAt has no time zone",
            id="a time without a zone",
        ),
    ],
)
def test_text_that_is_no_memory_is_refused(text: str, why: str) -> None:
    with pytest.raises(RunMemoryError, match=why):
        RunMemory.decoded(text)


def test_memory_that_is_too_large_for_its_place_is_refused() -> None:
    memory = RunMemory().after(NOW, {("p", "A"): b'"' + b"x" * MOST_BYTES + b'"'}, PLUGINS)

    with pytest.raises(RunMemoryError, match="900,000 are allowed"):
        memory.encoded()
