"""What the program knows of a kind of objects: one row of the table in `cluster.kinds`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from descheduler.cluster.kept.shapes import IDENTITY, Fields
from descheduler.cluster.traces import Trace

if TYPE_CHECKING:
    from descheduler.cluster.decoding.decode import Decoding

__all__ = ["AnyKind", "Kind", "NamedObject", "kind_key", "name_of", "unshared"]

_PAGE_SIZE = 2500
"""The API server counts what is left of a list for every page, so that at 150,000 pods it spends twice the time on
pages of 500; larger pages than this gain little, and two of them are in memory at a time."""


class NamedObject(Protocol):
    """A decoded object. One that lives in a namespace has that as `namespace`."""

    @property
    def name(self) -> str:
        """`metadata.name`."""


ObjectT = TypeVar("ObjectT", bound=NamedObject)


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Generic[ObjectT]):
    """A kind of objects: `api_version` is the version that a cluster is asked for, `plural` what it calls the list."""

    name: str
    api_version: str
    plural: str
    purpose: str = ""
    """What its objects are read for, a clause for the reference."""
    decoder: Callable[[Decoding], Callable[[bytes], ObjectT]] = field(kw_only=True)
    """Makes what decodes an object, whose errors are ValueError and RecursionError."""
    older_versions: tuple[str, ...] = ()
    """Versions of its group that older clusters serve it in, the newest first."""
    kept: Fields = field(default_factory=lambda: IDENTITY, repr=False)
    """What a dump keeps of an object. Whatever is not listed is in no dump."""
    is_optional: bool = False
    """Whether a cluster may lack the kind."""
    is_measured: bool = False
    """Whether a fault is no more than absence: only the plugin that wants its figures goes without."""
    page_size: int = _PAGE_SIZE
    """Objects asked for at once."""
    is_essential: bool = False
    """Whether a run ends on a broken object of a live cluster: without the object, pods that have to stay could be
    evicted. Of other kinds the object is skipped and named."""
    traces: frozenset[Trace] = frozenset()
    """What shows in pods or nodes where its objects have an effect, one of these; without any they always can."""
    is_message: bool = False
    """Whether it is read in protobuf from a server that speaks it."""
    key: str = field(init=False)
    """`name.group`, or the bare name of a core kind: there are three kinds PodGroup."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", kind_key(self.name, self.api_version))

    @property
    def in_older_versions(self) -> tuple[AnyKind, ...]:
        """The same kind in each of its older versions."""
        return tuple(replace(self, api_version=version, older_versions=()) for version in self.older_versions)

    @property
    def group(self) -> str:
        """Its API group, "" for core kinds."""
        return self.api_version.rpartition("/")[0]

    @property
    def path(self) -> str:
        """The list of the whole cluster."""
        return f"/{'apis' if self.group else 'api'}/{self.api_version}/{self.plural}"

    @property
    def resource(self) -> str:
        """What `kubectl get` calls it, with its group where it has one."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


AnyKind: TypeAlias = Kind[Any]
"""A kind, whatever its objects are decoded to."""


def kind_key(name: str, api_version: str) -> str:
    """What the table knows the kind by that an object states as `kind` and `apiVersion`.

    The version within the group says nothing: the fields that are read are the same in all served versions.
    """
    group = api_version.rpartition("/")[0]
    return f"{name}.{group}" if group else name


def unshared(decode: Callable[[bytes], ObjectT]) -> Callable[[Decoding], Callable[[bytes], ObjectT]]:
    """The decoder of objects that have nothing in common with others."""
    return lambda _: decode


def name_of(item: NamedObject) -> tuple[str, str]:
    """Namespace, "" where it has none, and name."""
    return getattr(item, "namespace", ""), item.name
