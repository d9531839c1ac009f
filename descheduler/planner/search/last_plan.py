"""The plans of the run before, which are tried first: what was not carried out of them is mostly still good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

PlannedTargets = Mapping[str, str]
"""UID of a pod → the node that a plan has it on."""

_MOST_MOVES = 5_000
_decode_targets = msgspec.json.Decoder(list[dict[str, str]]).decode
"""Kept of all objectives together, at some 60 bytes each; a hint need not be whole."""


def written_targets(plans: Sequence[PlannedTargets]) -> bytes:
    """The plans, one an objective, as a note for the next run."""
    room, kept = _MOST_MOVES, list[PlannedTargets]()
    for targets in plans:
        kept.append(dict(list(targets.items())[:room]))
        room -= len(kept[-1])
    return msgspec.json.encode(kept) if any(kept) else b""


def read_targets(note: bytes) -> Sequence[PlannedTargets]:
    """What `written_targets` wrote; nothing of any other text, without which a run is no worse."""
    try:
        return _decode_targets(note) if note else ()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ()
