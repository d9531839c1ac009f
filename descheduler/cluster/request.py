"""What is asked of a cluster, a dump or objects at hand."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from descheduler.cluster.kind import AnyKind, Trace
from descheduler.cluster.kinds import KINDS, Kinds


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """Which objects a snapshot must hold, and what is kept of them; kinds by the keys of the table `kinds`.

    `needed` kinds are those that some rule reads. `wanted` ones are read as far as they may be. Of a dump, and of
    objects at hand, all kinds of the table are read; a needed one that a dump lacks is named in the warnings. Raises
    ValueError for a key that is not in the table.
    """

    needed: AbstractSet[str] = frozenset()
    wanted: AbstractSet[str] = frozenset()
    keep_conditions: bool = True
    """Of pods: the bulkiest part of them that is unique to each."""
    keep_templates: bool = False
    """Of workloads: pods that they make, as large as pods."""
    annotations: frozenset[str] = frozenset()
    """Keys of annotations of pods and nodes that plugins read beside those that are always known; all of a domain for
    one that ends with `/`."""
    trims_reservations: bool = False
    """Whether what nodes reserve by Koordinator's annotation is taken off their `allocatable`."""
    skip_broken: bool = False
    """Whether a broken object is left out and named, instead of being an error."""
    traces: frozenset[Trace] = frozenset()
    """What has an effect though pods and nodes may not show it."""
    kinds: Kinds = field(default_factory=lambda: KINDS, repr=False)

    def __post_init__(self) -> None:
        unknown = (self.needed | self.wanted) - self.kinds.keys()
        if unknown:
            raise ValueError(f"unknown kinds: {', '.join(sorted(unknown))}")

    def needed_kinds(self) -> Iterator[AnyKind]:
        """The kinds that must be read, in reading order."""
        return (kind for key, kind in self.kinds.items() if key in self.needed)

    def wanted_kinds(self) -> Iterator[AnyKind]:
        """The kinds that are only wanted, in reading order."""
        return (kind for key, kind in self.kinds.items() if key in self.wanted - self.needed)
