"""Commands in pages do what the pages say, and print what the pages show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import SESSIONS, session
from docs.generator.sessions import Ended, SessionError, refreshed, steps
from docs.generator.workshop import workshop_on
from tests.docs.pages import ROOT, blocks

TUTORIAL = ROOT / "docs" / "tutorial.md"
SHOWN = "text\n\n```sh\nls\n```\n\n<!-- shown: {} -->\n```text\nold\n```\n\nmore\n"


def printing(output: str, code: int = 0) -> Ended:
    return Ended(code, output)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=pytest.mark.long if whole else ()) for page, whole in SESSIONS.items()],
)
def test_page_shows_what_its_commands_print(page: Path) -> None:
    assert page.read_text("utf-8") == session(page), f"{page.name} is stale; run python -m docs.generate"


def test_every_block_of_commands_of_the_tutorial_is_run() -> None:
    assert [step.commands for step in steps(TUTORIAL.read_text("utf-8"))] == blocks(TUTORIAL, "sh")


def test_each_step_of_the_tutorial_is_two_commands_at_most() -> None:
    written = [re.sub(r"<<'EOF'(.*)\n(?:.*\n)*?EOF$", r"\1", block, flags=re.M) for block in blocks(TUTORIAL, "sh")]

    longer = [block for block in written if len(block.splitlines()) > 2]

    assert longer == []


def test_figures_in_the_prose_of_the_tutorial_are_of_its_commands() -> None:
    """Figures of outputs belong into the outputs, where they are kept up to date."""
    text = TUTORIAL.read_text("utf-8")
    prose = re.sub(r"^```.*?^```$|<!--.*?-->|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    of_commands = {number for step in steps(text) for number in re.findall(r"\d+", f"{step.commands} {step.code}")}

    unchecked = set(re.findall(r"[\d.]*\d", prose)) - of_commands - {"3.11"}

    assert unchecked == set()


def test_recorded_decisions_of_the_readme_are_those_of_the_conformance_page() -> None:
    page = (ROOT / "docs" / "reference" / "conformance.md").read_text("utf-8")
    passed, of_all = map(int, re.findall(r"^(\d+) of (\d+) cases", page, re.MULTILINE)[0])

    assert passed == of_all
    assert f"[{passed:,} recorded decisions" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("patterns", "shown"),
    [
        pytest.param("one", "one\n…\n", id="the first line"),
        pytest.param("two | four", "…\ntwo\n…\nfour\n", id="some lines"),
        pytest.param("^three$ | four", "…\nthree\nfour\n", id="neighbours"),
    ],
)
def test_shown_lines_are_those_that_match_in_order(patterns: str, shown: str) -> None:
    page = refreshed(SHOWN.format(patterns), lambda _: printing("one\ntwo\nthree\nfour\n"), runs_all=True)

    assert page == SHOWN.format(patterns).replace("old\n", shown)


def test_long_line_is_cut() -> None:
    page = refreshed(SHOWN.format("x"), lambda _: printing("x" * 200), runs_all=True)

    assert f"\n{'x' * 119}…\n" in page


@pytest.mark.parametrize(
    ("page", "ended", "message"),
    [
        pytest.param(SHOWN.format("gone"), printing("here"), "'gone'", id="a line that is not printed"),
        pytest.param(SHOWN.format("a | b"), printing("b\na\n"), "below line 2", id="lines in another order"),
        pytest.param("```sh\nls\n```\n", printing("", 1), "ended with 1, not 0", id="an unexpected exit code"),
        pytest.param(
            "```sh\nls\n```\n\n<!-- exit code: 2 -->\n", printing("", 0), "ended with 0, not 2", id="no exit code"
        ),
        pytest.param("<!-- exit code: 2 -->\n", printing(""), "above all commands", id="a remark without commands"),
    ],
)
def test_page_that_says_otherwise_is_refused(page: str, ended: Ended, message: str) -> None:
    with pytest.raises(SessionError, match=re.escape(message)):
        refreshed(page, lambda _: ended, runs_all=True)


def test_commands_without_output_may_be_left_alone() -> None:
    page = "```sh\nrm -rf /\n```\n\n" + SHOWN.format("ls")

    ran: list[str] = []

    def run(commands: str) -> Ended:
        ran.append(commands)
        return printing("ls")

    refreshed(page, run, runs_all=False)

    assert ran == ["ls\n"]


def test_commands_that_need_a_control_plane_are_not_run() -> None:
    page = "```sh\nhelm install\n```\n\n<!-- needs a control plane -->\n"

    assert refreshed(page, lambda _: printing("", 1), runs_all=True) == page
    assert [step.needs_control_plane for step in steps(page)] == [True]


def test_block_begins_where_the_one_before_has_changed_to(tmp_path: Path) -> None:
    with workshop_on(tmp_path / "kubeconfig") as run:
        run("mkdir below\ncd below\n")

        assert run("basename $PWD").output == "below\n"


def test_address_in_pages_can_be_cloned(tmp_path: Path) -> None:
    with workshop_on(tmp_path / "kubeconfig") as run:
        cloned = run("git clone --quiet https://git.example/descheduler.git\nls descheduler/config/policy.yaml\n")

        assert cloned == Ended(0, "descheduler/config/policy.yaml\n")


@pytest.mark.long
def test_what_a_block_leaves_running_ends_with_it(tmp_path: Path) -> None:
    with workshop_on(tmp_path / "kubeconfig") as run:
        process = int(run("sleep 600 &\necho $!\n").output)

        assert run(f"while kill -0 {process} 2>/dev/null; do sleep 0.1; done\n").code == 0


def test_ports_of_pages_are_replaced_alike_in_all_blocks(tmp_path: Path) -> None:
    with workshop_on(tmp_path / "kubeconfig") as run:
        first, again = run("echo 127.0.0.1:8080\n"), run("echo 127.0.0.1:8080\n")

        assert first == again != Ended(0, "127.0.0.1:8080\n")
