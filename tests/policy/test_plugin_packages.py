"""Packages that offer plugins, of which Python knows the metadata; their code is imported when a plugin is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from descheduler.policy.plugin_faults import Origin, PluginFault, WrongAnswer
from descheduler.policy.plugin_packages import Admit, WithPackages, load_failure, of_kind
from tests.packages import install

GROUP = "acme.test_plugins"


class Row(NamedTuple):
    """A plugin with a name."""

    name: str
    kind: str = "balance"


OWN = {"Spread": Row("Spread"), "Clean": Row("Clean", "deschedule")}
ROW = "from tests.policy.test_plugin_packages import Row\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where Python finds the packages of a test."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_plugins"]:
        del sys.modules[name]


def admitted(row: Row, origin: Origin) -> Row:
    """The row, whose kind says where it is from."""
    return row._replace(kind=f"{origin.plugin} of {origin.package}, {origin.root}")


def plugins(admit: Admit[Row] = admitted) -> WithPackages[Row]:
    """The own rows, and those of the packages."""
    return WithPackages(OWN, GROUP, Row, admit)


def offer(site: Path, code: str, value: str = "ROW", package: str = "acme", plugin: str = "Spot") -> None:
    """Puts a package into `site` that offers what the module `spot` calls `value`."""
    install(site, {"spot": code}, {f"{GROUP}/{plugin}": f"acme_plugins.spot:{value}"}, package)


def failure_of(rows: Mapping[str, Row], name: str = "Spot") -> str:
    """Why the plugin is not there."""
    with pytest.raises(KeyError):
        rows[name]
    assert name not in rows
    assert name not in list(rows)
    return load_failure(name, rows)


def test_plugin_of_a_package_is_there_once_it_was_looked_up(site: Path) -> None:
    offer(site, f"{ROW}ROW = Row('Spot')\n")
    rows = plugins()

    before = (list(rows), len(rows), "acme_plugins.spot" in sys.modules)
    row = rows["Spot"]

    assert before == (["Spread", "Clean"], 2, False)
    assert row == Row("Spot", "Spot of acme, acme_plugins")
    assert rows["Spot"] is row
    assert (list(rows), len(rows), rows.failure("Spot")) == (["Spread", "Clean", "Spot"], 3, "")


def test_plugin_of_the_program_is_never_replaced(site: Path) -> None:
    offer(site, f"{ROW}ROW = Row('Clean')\n", plugin="Clean")
    rows = plugins()

    assert rows["Clean"] is OWN["Clean"]
    assert "acme_plugins.spot" not in sys.modules


def test_plugin_that_no_package_offers_is_not_there(site: Path) -> None:
    offer(site, f"{ROW}ROW = Row('Spot')\n")

    assert failure_of(plugins(), "Spotless") == ""


def test_plugin_that_two_packages_offer_is_not_loaded(site: Path) -> None:
    code = f"{ROW}ROW = Row('Spot')\n"
    offer(site, code)
    offer(site, code, package="rival")

    assert failure_of(plugins()) == "packages acme 1.0 and rival 1.0 both offer it; uninstall all but one"
    assert "acme_plugins.spot" not in sys.modules


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        pytest.param("ROW = 5\n", "acme_plugins.spot:ROW is no Row", id="another type"),
        pytest.param(f"{ROW}ROW = Row('Spit')\n", "acme_plugins.spot:ROW is named Spit", id="another name"),
        pytest.param("\nraise KeyError('x')\n", "KeyError: 'x' at acme_plugins/spot.py:2", id="an error"),
        pytest.param("raise SystemExit('over')\n", "SystemExit: over at acme_plugins/spot.py:1", id="sys.exit"),
        pytest.param(
            f"raise ValueError('{'x' * 2000}')\n",
            f"ValueError: {'x' * 988}... (cut off: 2,012 characters) at acme_plugins/spot.py:1",
            id="an error with a long text",
        ),
        pytest.param(
            "x = = 1\n",
            "SyntaxError: invalid syntax (spot.py, line 1) at acme_plugins/spot.py:1",
            id="what Python cannot read",
        ),
        pytest.param(
            "OTHER = 5\n",
            "AttributeError: module 'acme_plugins.spot' has no attribute 'ROW'",
            id="an entry point that stands for nothing",
        ),
    ],
)
def test_plugin_that_cannot_be_loaded_is_not_there_for_a_reason(site: Path, code: str, fault: str) -> None:
    offer(site, code)

    assert failure_of(plugins()) == f"package acme 1.0 offers it, and it cannot be loaded: {fault}"


def test_plugin_is_loaded_once_whether_or_not_it_fails(site: Path) -> None:
    offer(site, "import tests.policy.test_plugin_packages as t\nt.LOADED.append(1)\nraise KeyError\n")
    rows = plugins()

    failure_of(rows)
    failure_of(rows)

    assert LOADED == [1]


LOADED: list[int] = []


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        pytest.param(WrongAnswer("it has no points"), "it has no points", id="a row that makes no sense"),
        pytest.param(PluginFault("Spot", "plugin Spot failed: KeyError"), "plugin Spot failed: KeyError", id="a fault"),
    ],
)
def test_row_that_is_not_admitted_is_not_there(site: Path, error: Exception, fault: str) -> None:
    offer(site, f"{ROW}ROW = Row('Spot')\n")

    def admit(row: Row, origin: Origin) -> Row:
        raise error

    assert failure_of(plugins(admit)) == f"package acme 1.0 offers it, and it cannot be loaded: {fault}"


def test_ctrl_c_while_a_package_is_loaded_is_no_fault_of_it(site: Path) -> None:
    offer(site, "import signal\nsignal.default_int_handler(signal.SIGINT, None)\n")

    with pytest.raises(KeyboardInterrupt):
        plugins()["Spot"]


def test_rows_of_a_kind_are_those_alone_and_packages_offer_more_of_them(site: Path) -> None:
    offer(site, f"{ROW}ROW = Row('Spot', 'deschedule')\n")
    rows = plugins(lambda row, origin: row)
    kept = of_kind(rows, lambda row: row.kind == "deschedule")

    before = dict(kept)
    spot = kept["Spot"]

    assert before == {"Clean": OWN["Clean"]}
    assert dict(kept) == {"Clean": OWN["Clean"], "Spot": spot}
    assert len(kept) == 2
    assert "Spread" not in kept


def test_failure_of_a_plugin_is_told_by_rows_of_a_kind_too(site: Path) -> None:
    offer(site, "ROW = 5\n")
    rows = plugins()
    failure_of(rows)

    assert load_failure("Spot", of_kind(rows, lambda row: True)) == load_failure("Spot", rows) != ""
    assert load_failure("Spot", OWN) == ""
