"""What one run of a policy leaves for the next: a pure value, and its versioned JSON.

A batch job forgets. What has to outlast it, such as for how many runs a node was overutilized, is a note of the plugin
that wants to know it; nobody else reads inside. Where notes are kept is the business of `cycle`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import msgspec

__all__ = ["MOST_BYTES", "NOTHING_REMEMBERED", "NO_MEMORY", "PluginMemory", "RunMemory", "RunMemoryError"]

_VERSION = "descheduler.memory/v1"
MOST_BYTES = 900_000
"""A ConfigMap holds 1 MiB, its metadata and other keys included."""


class RunMemoryError(ValueError):
    """Text that is no memory of this version, or a memory that is too large to be kept; the message says which."""


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
    """The notes that the run of `saved_at` left, JSON by `profile/plugin`; no run has left any while that is None.

    `missing` as in `PluginMemory`.
    """

    saved_at: datetime | None = None
    notes: Mapping[str, bytes] = msgspec.field(default_factory=dict)
    missing: str = ""

    def of(self, profile: str, plugin: str) -> PluginMemory:
        """What this plugin left."""
        return PluginMemory(self.notes.get(_key(profile, plugin), b""), self.saved_at, self.missing)

    def after(
        self, now: datetime, notes: Mapping[tuple[str, str], bytes], plugins: Iterable[tuple[str, str]]
    ) -> RunMemory:
        """The memory that a run at `now` leaves, whose plugins left `notes`.

        Of the `plugins` of the policy that left none, having failed or not run, the old note stays; empty ones go.
        """
        known = {_key(*plugin) for plugin in plugins}
        kept = {key: note for key, note in self.notes.items() if key in known}
        kept |= {_key(*plugin): note for plugin, note in notes.items()}
        return RunMemory(now, {key: note for key, note in sorted(kept.items()) if note}, self.missing)

    def encoded(self) -> str:
        """The memory as JSON. Raises RunMemoryError when it has more than `MOST_BYTES` bytes."""
        saved_at = (self.saved_at or datetime.fromtimestamp(0, UTC)).astimezone(UTC)
        notes = {key: msgspec.Raw(note) for key, note in self.notes.items()}
        text = msgspec.json.encode(_Wire(_VERSION, saved_at, notes))
        if len(text) > MOST_BYTES:
            raise RunMemoryError(f"the memory of this run has {len(text):,} bytes, {MOST_BYTES:,} are allowed")
        return text.decode()

    @classmethod
    def decoded(cls, text: str) -> RunMemory:
        """The memory that `encoded` wrote. Raises RunMemoryError for any other text; notes are not looked into."""
        try:
            wire = msgspec.json.decode(text, type=_Wire)
        except (ValueError, RecursionError) as error:
            raise RunMemoryError(f"it is damaged: {error}") from error
        if wire.version != _VERSION:
            raise RunMemoryError(f"it is of version {wire.version[:40]!r}, not {_VERSION!r}")
        if wire.saved_at.tzinfo is None:
            raise RunMemoryError("savedAt has no time zone")
        return cls(wire.saved_at, {key: bytes(note) for key, note in wire.notes.items()})


NO_MEMORY = RunMemory(missing="earlier runs are not taken into account here")
"""Of a run on a dump, and of others that have nothing to keep it with."""


class _Wire(msgspec.Struct, rename="camel"):
    version: str
    saved_at: datetime
    notes: dict[str, msgspec.Raw]


def _key(profile: str, plugin: str) -> str:
    return f"{profile}/{plugin}"
