"""The page of Volcano begins with what the configuration of most batch clusters names."""

from __future__ import annotations

import re

from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from tests.docs.pages import ROOT

_CONFIGURATION = ROOT / "config" / "schedulers" / "volcano-scheduler.conf"
_PAGE = ROOT / "docs" / "how-to" / "volcano.md"
_ROW = re.compile(r"^\| (?:action )?`([^`]+)` \|")


def test_first_table_has_each_action_and_plugin_in_the_order_of_the_actions() -> None:
    configuration = load_volcano_configuration(_CONFIGURATION, modelled=VOLCANO_PLUGINS)

    first = _PAGE.read_text("utf-8").partition("|---|---|\n")[2].partition("\n\n")[0]
    rows = [found.group(1) for line in first.splitlines() if (found := _ROW.match(line))]

    plugins = [plugin.name for plugin in configuration.plugins]
    assert rows[: len(configuration.actions)] == list(configuration.actions)
    assert sorted(rows[len(configuration.actions) :]) == sorted(plugins)
    assert len(rows) == len(first.splitlines())
