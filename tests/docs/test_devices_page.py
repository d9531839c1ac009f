"""The page of devices names the parts of CEL that selectors may use, no more and no fewer."""

from __future__ import annotations

import re

from descheduler.placement.cel.functions import FUNCTIONS
from descheduler.placement.cel.macros import MACROS
from tests.docs.pages import ROOT

_PAGE = ROOT / "docs" / "how-to" / "devices.md"
_ROWS = "Operators|Macros|Strings|Quantities|Versions|Optional values|Sets|Types"
_ROW = re.compile(rf"^\| (?:{_ROWS}) \| (.*) \|$", re.MULTILINE)
_BUILT_IN = {"&&", "||", "? :", ".?"}
"""Operators that are no functions."""
_NAMES = {"!_": "!", "-_": "-", "bind": "cel.bind"}


def test_table_of_selectors_has_every_function_operator_and_macro() -> None:
    shown = {
        name.replace("\\|", "|")
        for cells in _ROW.findall(_PAGE.read_text("utf-8"))
        for name in re.findall("`([^`]+)`", cells)
    }

    known = {*FUNCTIONS, *(name for name, _, _ in MACROS)}
    assert shown == _BUILT_IN | {_NAMES.get(name, name) for name in known}
