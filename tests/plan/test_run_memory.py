"""What one run leaves for the next, as a value and as text."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.plan.run_memory import (
    LONGEST_KEPT,
    MOST_BYTES,
    MOST_NOTES,
    NO_MEMORY,
    Note,
    PluginMemory,
    RunMemory,
    RunMemoryError,
)
from tests.builders import NOW

LATER = NOW + timedelta(minutes=5)
NOTES = {"p/A/1": b'{"x":1}', "p/B/1": b'["y"]'}


def big(letter: bytes) -> bytes:
    """A note of more than half of what may be kept."""
    return b'"' + letter * (MOST_BYTES * 2 // 3) + b'"'


def test_a_plugin_finds_its_own_note_and_when_it_was_left() -> None:
    memory = RunMemory().after(NOW, NOTES)

    assert memory.of("p/A/1") == PluginMemory(b'{"x":1}', NOW)
    assert memory.of("p/A/2") == PluginMemory()


def test_text_gives_the_memory_back() -> None:
    memory = RunMemory().after(NOW + timedelta(microseconds=7), NOTES)

    assert RunMemory.decoded(memory.encoded()) == memory


def test_notes_of_plugins_that_did_not_run_stay_with_the_time_at_which_they_were_left() -> None:
    memory = RunMemory().after(NOW, NOTES).after(LATER, {"q/A/1": b"3"})

    assert memory.of("p/A/1") == PluginMemory(b'{"x":1}', NOW)
    assert memory.of("q/A/1") == PluginMemory(b"3", LATER)


@pytest.mark.parametrize("ahead", [pytest.param(1, id="old"), pytest.param(-1, id="of a wrong clock")])
def test_notes_go_when_nobody_renews_them(ahead: int) -> None:
    before = RunMemory().after(NOW, NOTES)

    assert before.after(NOW + ahead * LONGEST_KEPT, {}).notes == before.notes
    assert before.after(NOW + ahead * (LONGEST_KEPT + timedelta(seconds=1)), {}).notes == {}


def test_only_so_many_notes_stay_and_they_are_the_latest() -> None:
    memory = RunMemory().after(NOW, {f"p{index}": b"1" for index in range(MOST_NOTES)}).after(LATER, {"z": b"2"})

    assert len(memory.notes) == MOST_NOTES
    assert memory.of("z") == PluginMemory(b"2", LATER)


def test_empty_notes_are_not_kept() -> None:
    memory = RunMemory().after(NOW, NOTES).after(LATER, {"p/A/1": b""})

    assert list(RunMemory.decoded(memory.encoded()).notes) == ["p/B/1"]


def test_run_without_memory_says_why_to_plugins() -> None:
    assert NO_MEMORY.after(NOW, NOTES).of("p/C/1").missing == "earlier runs are unknown here"
    assert NO_MEMORY.after(NOW, NOTES).of("p/A/1").missing == "earlier runs are unknown here"


def test_notes_that_others_left_meanwhile_are_not_wiped_out() -> None:
    read = RunMemory().after(NOW, NOTES)
    stored = read.after(LATER, {"q/A/1": b"3", "p/A/1": b"4"})
    own = read.after(LATER + timedelta(minutes=1), {"p/A/1": b"", "p/B/1": b"5"})

    joined = RunMemory.decoded(own.joined(stored, read=read).encoded())

    assert {key: note.text for key, note in joined.notes.items()} == {"q/A/1": b"3", "p/B/1": b"5"}


def test_note_of_a_time_to_come_does_not_keep_its_plugin_from_renewing_it() -> None:
    read = RunMemory({"p/A/1": Note(NOW + timedelta(days=9999), b"1")})

    renewed = read.after(NOW, {"p/A/1": b"2"}).joined(read, read=read)

    assert renewed.of("p/A/1") == PluginMemory(b"2", NOW)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "it is damaged", id="nothing"),
        pytest.param("{", "it is damaged", id="cut short"),
        pytest.param("[]", "it is damaged", id="another shape"),
        pytest.param("[" * 100_000, "it is damaged", id="too deep"),
        pytest.param(
            '{"version": "descheduler.memory/v9", "savedAt": "2026-01-01T00:00:00Z", "notes": {}}',
            "it is of version 'descheduler.memory/v9', not 'descheduler.memory/v2'",
            id="another version",
        ),
        pytest.param(
            '{"version": "descheduler.memory/v2", "notes": {"p": {"savedAt": "2026-01-01T00:00:00", "note": 1}}}',
            "savedAt has no time zone",
            id="a time without a zone",
        ),
        pytest.param(
            '{"version": "descheduler.memory/v2", "notes": {"p": {"savedAt": "0001-01-01T00:00:00+23:59", "note": 1}}}',
            "savedAt is out of range",
            id="a time before all others",
        ),
        pytest.param(
            '{"version": "descheduler.memory/v2", "notes": {"p": {"savedAt": 7, "note": 1}}}',
            "it is damaged: Expected `datetime`|it is damaged: Invalid",
            id="a number for a time",
        ),
        pytest.param(
            '{"version": "descheduler.memory/v2", "notes": {"p": [1]}}',
            "it is damaged: Expected",
            id="a list for a note",
        ),
        pytest.param('{"version": 2, "notes": {}}', "it is damaged: Expected `str`", id="a number for the version"),
        pytest.param(
            '{"version": "descheduler.memory/v2", "notes": {"p": ' + "[" * 400_000, "it is damaged", id="a deep note"
        ),
        pytest.param(
            '{"version": "descheduler.memory/v2", "notes": {}}' + " " * 2_000_000,
            "it has 2,000,049 characters, 900,000 are allowed",
            id="two megabytes",
        ),
    ],
)
def test_text_that_is_no_memory_is_refused(text: str, why: str) -> None:
    with pytest.raises(RunMemoryError, match=why):
        RunMemory.decoded(text)


def test_memory_that_is_too_large_for_its_place_is_refused() -> None:
    memory = RunMemory().after(NOW, {"p/A/1": big(b"x"), "p/B/1": big(b"y")})

    with pytest.raises(RunMemoryError, match="900,000 are allowed"):
        memory.encoded()


def test_old_notes_of_others_give_way_where_all_are_too_large() -> None:
    memory = RunMemory().after(NOW, {"p/A/1": big(b"x")}).after(LATER, {"q/A/1": big(b"y")})

    assert list(RunMemory.decoded(memory.encoded()).notes) == ["q/A/1"]


def test_note_of_this_run_stays_beside_one_of_the_same_time() -> None:
    read = RunMemory()
    stored, own = read.after(LATER, {"p/A/1": b"1"}), read.after(LATER, {"p/A/1": b"2"})

    assert own.joined(stored, read=read).of("p/A/1").note == b"2"


def test_first_note_of_another_run_is_taken_over() -> None:
    read = RunMemory()

    joined = read.after(LATER, {}).joined(read.after(NOW, {"p/A/1": b"1"}), read=read)

    assert joined.of("p/A/1") == PluginMemory(b"1", NOW)


@pytest.mark.parametrize(("extra", "fits"), [(0, True), (1, False)])
def test_memory_may_fill_its_place(extra: int, fits: bool) -> None:
    frame = len(RunMemory().after(NOW, {"p": b'""'}).encoded())
    memory = RunMemory().after(NOW, {"p": b'"' + b"x" * (MOST_BYTES - frame + extra) + b'"'})

    if fits:
        text = memory.encoded()
        assert len(text) == MOST_BYTES
        assert RunMemory.decoded(text) == memory
    else:
        with pytest.raises(RunMemoryError):
            memory.encoded()


def test_all_notes_of_the_oldest_run_give_way_together() -> None:
    memory = RunMemory().after(NOW, {"p/A/1": b"1", "p/B/1": big(b"x")}).after(LATER, {"q/A/1": big(b"y")})

    assert list(RunMemory.decoded(memory.encoded()).notes) == ["q/A/1"]
