"""Check that a picture of a match is written for each of its states."""

from fairplay.games.fish.draw import svg
from fairplay.observers.painter import AnyMatch, Painter
from tests.observers.observed import first, observe_match

NAMES = ("ann", "bob")


def paint(match: AnyMatch, before: AnyMatch | None) -> dict[str, str]:
    then = "nothing" if before is None else before.state.stage.value
    return {"svg": svg(match.view(None), match.names), "txt": f"{then}, {match.state.stage.value}"}


def test_each_state_is_painted_once_in_order() -> None:
    files: dict[str, str] = {}

    match = observe_match(Painter(lambda name, text: files.update({name: text}), paint), [first, first], NAMES)

    states = len(files) // 2
    assert list(files) == [f"{number}.{ending}" for number in range(states) for ending in ("svg", "txt")]
    assert (files["0.txt"], files[f"{states - 1}.txt"]) == ("nothing, placing", "playing, done")
    assert files[f"{states - 1}.svg"] == svg(match.view(None), match.names)


def test_a_painter_that_fails_is_dropped_and_the_match_continues() -> None:
    said: list[str] = []

    def fail(name: str, text: str) -> None:
        raise OSError("the disk is full")

    match = observe_match(Painter(fail, paint), [first, first], NAMES, report=said.append)

    assert match.turn is None
    assert len(said) == 1
    assert "Painter was dropped" in said[0]
