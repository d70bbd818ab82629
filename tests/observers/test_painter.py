"""Check that a picture of a match is written for each of its states."""

from typing import Any

from fairplay.games.fish import Fish
from fairplay.games.fish.draw import svg
from fairplay.observers.painter import AnyMatch, Painter
from fairplay.referee.referee import Referee

GAME = Fish(rows=3, columns=3)


def first(view: Any) -> Any:
    return next(GAME.actions(view))


def painted(match: AnyMatch, before: AnyMatch | None) -> dict[str, str]:
    then = "nothing" if before is None else before.state.stage.value
    return {"svg": svg(match.view(None), match.names), "txt": f"{then}, {match.state.stage.value}"}


def test_each_state_is_painted_once_in_order() -> None:
    files: dict[str, str] = {}
    referee = Referee()
    referee.subscribe(Painter(lambda name, text: files.update({name: text}), painted))

    match = referee.run(GAME, [first, first], seed=bytes(32))

    states = len(files) // 2
    assert list(files) == [f"{number}.{ending}" for number in range(states) for ending in ("svg", "txt")]
    assert (files["0.txt"], files[f"{states - 1}.txt"]) == ("nothing, placing", "playing, done")
    assert files[f"{states - 1}.svg"] == svg(match.view(None), match.names)


def test_a_painter_that_fails_is_dropped_and_the_match_continues() -> None:
    said: list[str] = []
    referee = Referee(report=said.append)

    def fail(name: str, text: str) -> None:
        raise OSError("the disk is full")

    referee.subscribe(Painter(fail, painted))
    match = referee.run(GAME, [first, first], seed=bytes(32))

    assert match.turn is None
    assert len(said) == 1
    assert "Painter was dropped" in said[0]
