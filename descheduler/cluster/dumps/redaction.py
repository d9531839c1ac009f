"""What is left of an object in a dump: the fields that its kind keeps, and no more.

Whatever is not listed is dropped, so that a field that Kubernetes or an operator adds tomorrow is in no dump either.
"""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.cluster.kept.pods import VOLUME
from descheduler.cluster.kept.shapes import Leaf, Shape
from descheduler.cluster.kind import AnyKind
from descheduler.model.annotations import KNOWN_ANNOTATIONS, AnnotationKeys
from descheduler.model.text.urls import without_user_part

__all__ = ["REFUSED_KINDS", "redact"]

REFUSED_KINDS = frozenset({"Secret", "ConfigMap"})
"""Kinds whose content is nobody's business outside the cluster; no row of a table puts them into a dump."""
_KNOWN = AnnotationKeys(KNOWN_ANNOTATIONS)


def redact(kind: AnyKind, obj: Mapping[str, object], annotations: AnnotationKeys = _KNOWN) -> dict[str, object]:
    """A copy of `obj` with what a dump keeps of its kind, in the order that it had, and the annotations of these keys.

    Raises ValueError for a kind that never goes into a dump.
    """
    for name in (kind.name, obj.get("kind")):
        if name in REFUSED_KINDS:
            raise ValueError(f"a {name} never goes into a dump")
    shape = kind.kept
    return {name: _kept(shape[name], value, annotations) for name, value in obj.items() if name in shape}


def _kept(shape: Shape, value: object, annotations: AnnotationKeys) -> object:
    """What is kept of one value. One of another type than its field has stays of that type, and so stays an error."""
    if isinstance(value, list):
        items = [_kept(shape, item, annotations) for item in value]
        return [item for item in items if not _is_idle(item)] if shape is VOLUME else items
    if isinstance(shape, Mapping):
        if isinstance(value, dict):
            return {name: _kept(shape[name], member, annotations) for name, member in value.items() if name in shape}
        return _emptied(value)
    if shape is Leaf.SCALAR:
        return _scalar(value)
    if shape is Leaf.HANDLE:
        return without_user_part(value) if isinstance(value, str) else _scalar(value)
    if not isinstance(value, dict):
        return _emptied(value)
    if shape is Leaf.ANNOTATIONS:
        return {key: _scalar(member) for key, member in value.items() if key in annotations}
    return {key: _scalar(member) for key, member in value.items()}


def _is_idle(volume: object) -> bool:
    """Whether nothing is left of a volume but its name: no rule asks for it, and tokens differ from pod to pod."""
    return isinstance(volume, dict) and volume.keys() <= {"name"}


def _scalar(value: object) -> object:
    return {} if isinstance(value, dict) else value


def _emptied(value: object) -> object:
    """A value of the same type that says nothing; numbers and null can be no secret."""
    return type(value)() if isinstance(value, (dict, str)) else value
