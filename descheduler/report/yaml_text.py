"""Documents as YAML."""

from __future__ import annotations

import msgspec
import yaml

from descheduler.report.document import Fields

__all__ = ["yaml_text"]

_NO_WRAPPING = 2**30

# libyaml is ten times as fast, and not part of every build of pyyaml.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _PlainDumper(_Dumper):  # type: ignore[misc, valid-type]
    """Writes every value where it stands: an anchor in a report would only puzzle."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


def yaml_text(document: Fields | dict[str, object]) -> str:
    """The whole document, fields in the order of the JSON."""
    plain = msgspec.to_builtins(document)
    text: str = yaml.dump(plain, Dumper=_PlainDumper, sort_keys=False, allow_unicode=False, width=_NO_WRAPPING)
    return text
