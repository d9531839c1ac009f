"""Pages of plans in headless Chromium: light and dark, wide and narrow, printed, and with 5,000 nodes."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from descheduler.report.formats.render import render
from tests.builders import make_node, make_pod
from tests.report.decided_cycles import make_test_plan

pytestmark = pytest.mark.browser

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files"),
    *("--enable-logging=stderr", "--v=0", "--virtual-time-budget=4000"),
)
_LOOK = """<!doctype html><iframe src="page.html" width="{width}" height="900"></iframe><script>
onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const wide = [...page.querySelectorAll("body > *, section > *")].filter(
    (each) => each.getBoundingClientRect().right > {width} + 1);
  const said = {{
    overflow: wide.map((each) => each.tagName),
    bars: page.querySelectorAll("svg rect").length,
    ground: getComputedStyle(page.body).backgroundColor,
    ink: getComputedStyle(page.body).color,
    focusable: page.querySelectorAll("a, summary").length,
    narrowest: Math.min(...[...page.querySelectorAll("#workloads td:first-child")].map((each) => each.clientWidth)),
    pods: [...page.querySelectorAll(".pods li")].filter((each) => each.checkVisibility()).length,
  }};
  document.body.dataset.said = JSON.stringify(said);
}};
</script>"""


@pytest.fixture(scope="module")
def chromium() -> str:
    """The browser's program, which `make browser` needs."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    assert found is not None, "install Chromium (apt-get install chromium)"
    return found


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The page of a plan over two nodes with a pod whose name is an element."""
    pods = [make_pod("old", cpu="500m"), make_pod("<b>bold</b>", cpu="1", namespace="a-namespace-" + "long" * 12)]
    return _written(tmp_path, "".join(render(make_test_plan(pods), "html")))


def _written(folder: Path, html: str) -> Path:
    file = folder / "page.html"
    file.write_text(html)
    return file


def _browse(chromium: str, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [chromium, *_FLAGS, f"--user-data-dir={folder / 'profile'}", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def _look(chromium: str, page: Path, *flags: str, width: int = 1200) -> str:
    """What a script in a frame around the page sees of it."""
    frame = page.with_name("frame.html")
    frame.write_text(_LOOK.format(width=width))
    seen = _browse(chromium, page.parent, "--dump-dom", *flags, frame.as_uri())
    assert "CONSOLE" not in seen.stderr
    found = re.search(r'data-said="([^"]*)"', seen.stdout)
    assert found is not None, seen.stdout[:500]
    return found[1].replace("&quot;", '"')


@pytest.mark.parametrize("width", [1200, 420], ids=["wide", "narrow"])
def test_nothing_of_a_page_is_wider_than_the_window(chromium: str, page: Path, width: int) -> None:
    assert '"overflow":[]' in _look(chromium, page, width=width)


def test_names_of_workloads_are_readable_in_a_narrow_window(chromium: str, page: Path) -> None:
    found = re.search(r'"narrowest":(\d+)', _look(chromium, page, width=400))

    assert found is not None
    assert int(found[1]) >= 150


def test_paper_shows_the_pods_that_a_window_opens(chromium: str, page: Path) -> None:
    assert '"pods":0' in _look(chromium, page)

    page.write_text(page.read_text().replace("@media print", "@media all"))

    assert '"pods":2' in _look(chromium, page)


def test_a_page_has_a_light_and_a_dark_look(chromium: str, page: Path) -> None:
    light = _look(chromium, page, "--blink-settings=preferredColorScheme=1")
    dark = _look(chromium, page, "--blink-settings=preferredColorScheme=0")

    assert '"ground":"rgb(255, 255, 255)"' in light
    assert '"ground":"rgb(20, 24, 31)"' in dark


def test_a_page_is_printed(chromium: str, page: Path, tmp_path: Path) -> None:
    printed = tmp_path / "page.pdf"

    _browse(chromium, tmp_path, f"--print-to-pdf={printed}", page.as_uri())

    assert printed.read_bytes().startswith(b"%PDF")


@pytest.fixture(scope="module")
def large_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a plan over 5,000 nodes with 900 evictions."""
    nodes = [make_node(f"node-{number:04}", cpu="16") for number in range(5000)]
    pods = [make_pod(f"pod-{number:05}", node=f"node-{number:04}", cpu="1") for number in range(900)]
    return _written(tmp_path_factory.mktemp("large"), "".join(render(make_test_plan(pods, nodes=nodes), "html")))


def test_a_page_of_five_thousand_nodes_is_drawn(chromium: str, large_page: Path) -> None:
    seen = _look(chromium, large_page)

    bars = re.search(r'"bars":(\d+)', seen)
    assert bars is not None
    assert int(bars[1]) > 2 * 900  # each node that changes before and after, of two resources


def test_a_page_of_five_thousand_nodes_opens_in_two_seconds(chromium: str, large_page: Path, tmp_path: Path) -> None:
    """In CPU time, more than an empty page takes: other work on the machine does not count."""
    empty = _written(tmp_path, "<p>nothing")
    for page in (empty, large_page):
        _cpu_seconds(chromium, page)  # makes the profile in its folder

    spent = _cpu_seconds(chromium, large_page) - _cpu_seconds(chromium, empty)

    assert spent <= 2.0


def _cpu_seconds(chromium: str, page: Path) -> float:
    """What the browser takes to start, open the page and end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _browse(chromium, page.parent, "--dump-dom", page.as_uri())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
