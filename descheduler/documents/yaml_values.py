"""Plain values of YAML documents of any length, built from the parser's events an object at a time."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from descheduler.documents.yaml_builder import ByteStream, YamlBuilder, YamlLimits
from descheduler.documents.yaml_scalars import Scalar

__all__ = ["Value", "YamlReader"]

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

_MOST = 1_000_000
"""Values of one object; those of Kubernetes hold thousands."""
_LIMITS = YamlLimits(
    depth=200, values=_MOST, repeated=_MOST, kept=_MOST, too_many=f"one object holds more than {_MOST} values"
)


class YamlReader(YamlBuilder[Value, Value]):
    """Values as JSON has them, without places. `start_object` is called before each object."""

    def __init__(self, stream: ByteStream) -> None:
        super().__init__(stream, _LIMITS)

    def make_scalar(self, value: Scalar, event: yaml.ScalarEvent) -> Value:
        """`value` itself."""
        return value

    def make_list(self, items: list[Value], start: yaml.Event) -> Value:
        """`items` themselves."""
        return items

    def make_member(self, key: yaml.Event, value: Value) -> Value:
        """`value` itself."""
        return value

    def make_object(
        self, members: dict[str, Value], duplicates: Sequence[tuple[str, yaml.Event]], start: yaml.Event
    ) -> Value:
        """`members` themselves."""
        return members

    def content(self, value: Value) -> Value:
        """`value` itself."""
        return value
