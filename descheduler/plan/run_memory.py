"""What one run of a policy leaves for the next: a pure value, and its versioned JSON.

A batch job forgets. What has to outlast it, such as for how many runs a node was overutilized, is a note of the plugin
that wants to know it; only the plugin reads it. Where notes are kept is the business of `cycle`. Several policies may
keep theirs in one place: each finds its own by key, and leaves those of the others until they are too old.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import msgspec

_VERSION = "descheduler.memory/v2"
MOST_BYTES = 900_000
"""A ConfigMap holds 1 MiB, its metadata and other keys included."""
MOST_NOTES = 1_000
"""Those that were left last are kept."""
LONGEST_KEPT = timedelta(days=7)
"""A note that was not renewed for so long is deleted: its plugin runs no more, or under another policy."""


class RunMemoryError(ValueError):
    """Text that is no memory of this version, or a memory that is too large to be kept; the message says which."""


class Note(NamedTuple):
    """What a plugin left in the run of `saved_at`, as JSON; empty for nothing."""

    saved_at: datetime
    text: bytes


class PluginMemory(msgspec.Struct, frozen=True):
    """What one plugin of one profile left in the run of `saved_at`, None where there was none; `note` is its JSON.

    `missing` says why nothing is kept from one run to the next, "" where it is.
    """

    note: bytes = b""
    saved_at: datetime | None = None
    missing: str = ""


NOTHING_REMEMBERED = PluginMemory()
"""Of a plugin in its first run."""


class RunMemory(msgspec.Struct, frozen=True):
    """The notes that runs left, by the key of whoever left them. `missing` as in `PluginMemory`."""

    notes: Mapping[str, Note] = msgspec.field(default_factory=dict)
    missing: str = ""

    def of(self, key: str) -> PluginMemory:
        """What the plugin with this key left."""
        if key not in self.notes:
            return PluginMemory(missing=self.missing)
        saved_at, note = self.notes[key]
        return PluginMemory(note, saved_at, self.missing)

    def after(self, now: datetime, notes: Mapping[str, bytes]) -> RunMemory:
        """The memory that a run at `now` leaves, whose plugins left `notes`.

        The notes of others stay: of plugins that failed or did not run, and of other policies, unless they are older
        than `LONGEST_KEPT`, or of a time that far ahead. Only the `MOST_NOTES` latest stay.
        """
        known = {key: note for key, note in self.notes.items() if abs(now - note.saved_at) <= LONGEST_KEPT}
        return RunMemory(_latest(known | {key: Note(now, text) for key, text in notes.items()}), self.missing)

    def joined(self, stored: RunMemory, *, read: RunMemory) -> RunMemory:
        """This memory, made from `read`, with the notes that others have put into `stored` since that was read.

        Of a note that both have renewed the later one stays.
        """
        changed = {key: note for key, note in stored.notes.items() if note != read.notes.get(key)}
        newer = {key: note for key, note in changed.items() if note.saved_at > _saved_at(self.notes.get(key))}
        return RunMemory(_latest({**self.notes, **newer}), self.missing)

    def encoded(self) -> str:
        """The memory as JSON, without empty notes, and without the oldest ones where they are too many bytes.

        Raises RunMemoryError when those of the last run alone have more than `MOST_BYTES` bytes.
        """
        notes = {key: note for key, note in self.notes.items() if note.text}
        while len(text := _encode(notes)) > MOST_BYTES:
            oldest, latest = (pick(note.saved_at for note in notes.values()) for pick in (min, max))
            if oldest == latest:
                raise RunMemoryError(f"the memory of this run has {len(text):,} bytes, {MOST_BYTES:,} are allowed")
            notes = {key: note for key, note in notes.items() if note.saved_at > oldest}
        return text.decode()

    @classmethod
    def decoded(cls, text: str) -> RunMemory:
        """The memory that `encoded` wrote. Raises RunMemoryError for any other text; notes are not looked into."""
        if len(text) > MOST_BYTES:
            raise RunMemoryError(f"it has {len(text):,} characters, {MOST_BYTES:,} are allowed")
        try:
            version = _decode_version(text).version
            if version != _VERSION:
                raise RunMemoryError(f"it is of version {version[:40]!r}, not {_VERSION!r}")
            wire = _decode_wire(text)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise RunMemoryError(f"it is damaged: {error}") from error
        return cls({key: Note(_in_utc(note.saved_at), bytes(note.note)) for key, note in wire.notes.items()})


NO_MEMORY = RunMemory(missing="earlier runs are unknown here")
"""Of a run on a dump, and of others that have nothing to keep it with."""


class _WireVersion(msgspec.Struct):
    version: str


_decode_version = msgspec.json.Decoder(_WireVersion).decode


class _WireNote(msgspec.Struct, rename="camel"):
    saved_at: datetime
    note: msgspec.Raw


class _Wire(_WireVersion):
    notes: dict[str, _WireNote]


_decode_wire = msgspec.json.Decoder(_Wire).decode


def _encode(notes: Mapping[str, Note]) -> bytes:
    written = {key: _WireNote(note.saved_at.astimezone(UTC), msgspec.Raw(note.text)) for key, note in notes.items()}
    return msgspec.json.encode(_Wire(_VERSION, written))


def _in_utc(saved_at: datetime) -> datetime:
    if saved_at.tzinfo is None:
        raise RunMemoryError("savedAt has no time zone")
    try:
        return saved_at.astimezone(UTC)
    except OverflowError as error:
        raise RunMemoryError(f"savedAt is out of range: {error}") from error


def _saved_at(note: Note | None) -> datetime:
    return datetime.min.replace(tzinfo=UTC) if note is None else note.saved_at


def _latest(notes: Mapping[str, Note]) -> dict[str, Note]:
    """At most `MOST_NOTES` of the notes, in the order of their keys."""
    latest = sorted(notes, key=lambda key: (notes[key].saved_at, key))[-MOST_NOTES:]
    return {key: notes[key] for key in sorted(latest)}
