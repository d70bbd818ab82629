"""Test the comparison with other libraries: its page, and libraries that fail or print too much."""

import io
import re
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import peer_worker, peers
from benchmarks.peers_page import (
    FAIRPLAY,
    OURS,
    STYLE,
    SUBJECTS,
    UNIT_BENCHMARK,
    Run,
    draw_plot,
    format_figure,
    render_page,
)
from fairplay.render.colours import contrast
from tests.nonempty import nonempty
from tools.readme_tables import ROOT

TIMES = {UNIT_BENCHMARK: 2.0, "fish.raw": 10.0, "fish.batch": 0.1, "fish.refereed": 31.0, "pettingzoo": 2468.0}
VERSIONS = {FAIRPLAY: "1.0", "open_spiel": "2.0", "pettingzoo": "3.0"}
RUN = Run(TIMES, VERSIONS, rounds=7, cores=2, load=0.25, python="3.11.0", day="2026-01-02")
SVG = "{http://www.w3.org/2000/svg}"
A_PEER = "import sys\nprint('1.2', flush=True)\nfor number, _ in enumerate(sys.stdin): print(number + 5, flush=True)\n"


def test_the_page_has_figures_in_multiples_of_the_unit_and_names_the_measurement_and_missing_libraries() -> None:
    text, starts = render_page(RUN), ("| **", "| open", "| petting")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(starts)]

    assert [(row[0].strip("| *"), row[2], row[3].rstrip(" |")) for row in rows] == [
        ("open_spiel 2.0", "2.0", "1.0"),
        ("fairplay 1.0", "10", "5.0"),
        ("pettingzoo 3.0", "2,468", "1,234"),
        ("fairplay 1.0", "31", "16"),
        ("fairplay 1.0", "0.10", "0.050"),
    ]
    for words in ("2026-01-02", "Python 3.11.0", "2 cores", "0.25 other processes", "best of 7 rounds", "2.00 µs"):
        assert words in text.replace("\n", " ")
    missing = text.strip(".\n").rpartition("had there: ")[2].split("; ")
    assert missing == [subject.label for name, subject in SUBJECTS.items() if name not in TIMES]


@pytest.mark.parametrize(
    ("figure", "words"),
    [(0.04731, "0.047"), (1.0, "1.0"), (4.86, "4.9"), (9.96, "10"), (15.2, "15"), (1234.5, "1,234")],
)
def test_a_figure_has_two_digits_or_none_behind_the_point(figure: float, words: str) -> None:
    assert format_figure(figure) == words


def dots(root: ElementTree.Element) -> Iterator[tuple[float, float, str]]:
    """Where the figures are, and whose: those below the legend."""
    for it in root.iter():
        if it.tag == f"{SVG}circle":
            yield float(it.attrib["cy"]), float(it.attrib["cx"]), it.attrib["class"]
        elif it.tag == f"{SVG}polygon":
            corners = [tuple(map(float, corner.split(","))) for corner in it.attrib["points"].split()]
            yield corners[0][1], corners[1][0], it.attrib["class"]


def test_the_plot_has_a_dot_for_each_library_on_a_logarithmic_scale() -> None:
    root = ElementTree.fromstring(draw_plot(RUN))

    found = sorted(dots(root))[2:]  # the legend has two

    assert [whose for _, _, whose in found] == ["ours", "theirs", "ours", "ours", "theirs"]
    batch, unit, fish, _, zoo = (x for _, x, _ in found)
    assert batch < unit < fish < zoo < float(root.attrib["width"])
    assert (unit - batch) / (fish - unit) == pytest.approx(1.861, abs=0.01)  # log(1 / 0.05) / log(5)
    words = [it.text for it in root.iter(f"{SVG}text")]
    assert all(SUBJECTS[name].label in words for name in nonempty(TIMES))


def test_the_plot_can_be_read_in_the_light_and_in_the_dark() -> None:
    light, dark = (dict(re.findall(r"\.(\w+) { (?:fill|stroke): (#\w+)", part)) for part in STYLE.split("@media"))

    for paint in (light, dark):
        assert contrast(paint["ink"], paint["ground"]) > 7
        assert min(contrast(paint[whose], paint["ground"]) for whose in ("ours", "theirs")) > 4.5


def test_every_peer_has_a_place_on_the_page_and_a_pinned_version() -> None:
    pinned = {re.sub("[-_]", "_", line.partition("==")[0]).lower() for line in peers.PINNED.read_text().splitlines()}

    assert set(peer_worker.PEERS) | set(OURS) == set(SUBJECTS)
    for name, (package, _) in peer_worker.PEERS.items():
        assert SUBJECTS[name].package == package
        assert {package.lower(), *peers.EXTRA_PACKAGES.get(package, ())} <= pinned
    assert "//" not in peers.PINNED.read_text()


def test_ours_and_theirs_take_turns() -> None:
    one, other = (dict[str, peer_worker.Benchmark](dict.fromkeys(names, int)) for names in ("abc", "xyzw"))

    assert "".join(peers.alternate(one, other)) == "axbyczw"


def test_a_round_goes_on_until_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_worker, "MIN_ROUND_S", 0.05)
    clock = count(0, 0.02)
    monkeypatch.setattr("benchmarks.peer_worker.time.perf_counter", lambda: next(clock))

    assert peer_worker.repeat_for_round(lambda: 3)() == 2 * 3  # looked at after 0.02, 0.04 and 0.06 s


def test_without_kernels_there_are_no_batches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(peers, "kernels", None)

    missing = set(OURS) - set(peers.fairplay_benchmarks(tmp_path))
    assert missing == {"fish.batch", "fish.batch.two"}


def test_what_a_library_prints_is_taken_for_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def greeting() -> peer_worker.Benchmark:
        print("Hello from the developers")
        return lambda: 0

    monkeypatch.setitem(peer_worker.PEERS, "a peer", ("pytest", greeting))
    monkeypatch.setattr(peer_worker, "MIN_ROUND_S", 0.0)
    monkeypatch.setattr(sys, "argv", ["theirs.py", "a peer"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\n"))

    peer_worker.main()

    said = capsys.readouterr()
    assert said.out.splitlines() == [pytest.__version__, "0", "0"]
    assert said.err == "Hello from the developers\n"


def test_a_peer_says_its_version_and_then_the_moves_of_each_round(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(peers, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(peers, "SCRIPT", tmp_path / "theirs.py")
    peers.SCRIPT.write_text(A_PEER)

    peer = peers.Peer(UNIT_BENCHMARK)

    assert (peer.read_line(), peer(), peer()) == ("1.2", 5, 6)
    peer.end()


def test_a_library_that_cannot_be_installed_or_loaded_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def install(package: str) -> None:
        if package == "chess":
            raise peers.CannotMeasure("there is no wheel")

    monkeypatch.setattr(peers, "PYTHON", Path(sys.executable))  # where there are no peers
    monkeypatch.setattr(peers, "install", install)

    with peers.start_peers(["chess", "easyai"]) as found:
        assert found == ({}, {})

    told = capfd.readouterr().err
    assert "peers: without chess: there is no wheel\n" in told
    assert "ModuleNotFoundError: No module named 'easyAI'" in told
    assert "peers: without easyai: easyai has ended with exit code 1\n" in told


def test_a_failed_command_is_reported_with_its_last_line() -> None:
    with pytest.raises(peers.CannotMeasure, match=r"^the last words$"):
        peers.run_command(sys.executable, "-c", "import sys; sys.exit('some\\nthe last words')")
    with pytest.raises(peers.CannotMeasure, match="no such program"):
        peers.run_command(str(ROOT / "no such program"))


def test_without_the_unit_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def install(package: str) -> None:
        raise peers.CannotMeasure("there is no network")

    monkeypatch.setattr(peers, "install", install)
    monkeypatch.setattr(peers, "PLOT", tmp_path / "plot.svg")
    monkeypatch.setattr(peers, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(sys, "argv", ["peers.py"])

    with pytest.raises(SystemExit, match="2"):
        peers.main()

    assert capsys.readouterr().err.endswith("peers: there is nothing to compare with without OpenSpiel\n")
    assert list(tmp_path.iterdir()) == []
