"""Run every test of a file twice: with lines of a script that are awaited, and with such as call back."""

from typing import Any

import pytest

from fairplay.players.remote import Remote
from fairplay.transport.line import Line
from tests.players.lines import Prompt, Scripted


@pytest.fixture(autouse=True, params=["awaited", "at once"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the lines of a script are listened to; whatever is asked of them comes to the same."""

    def prompt(line: Line, *words: Any, **options: Any) -> Remote:
        return Remote(Prompt(line) if isinstance(line, Scripted) else line, *words, **options)

    if request.param == "at once":
        monkeypatch.setattr(request.module, "Remote", prompt)
    chosen: str = request.param
    return chosen
