"""Be the server of a course from the command line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.course.dialects import DIALECTS
from fairplay.course.servers import SERVERS, ServerRules
from fairplay.render.words import quoted
from fairplay.server.course import serve
from fairplay.terminal.waiting import lines
from fairplay.tournament.places import MATCHES
from fairplay.transport import event_loop


def serve_course(game: str, given: Mapping[str, Any]) -> None:
    """Let the clients of a course sign up, play its tournament or its game, and print the result as the course has it.

    Where nothing else is said, the numbers are the course's. Clients cannot come back to what was interrupted; what was
    recorded of it stays.
    """
    if "port" not in given:
        raise BadRequest("--course needs --port: where its clients connect")
    chosen = dict(given)
    host, port, journal = chosen.pop("host", "127.0.0.1"), chosen.pop("port"), chosen.pop("journal", None)
    if game not in SERVERS:
        raise BadRequest(f"there is no course of {game!r}; there is {', '.join(SERVERS)}")
    server, told = SERVERS[game], lines()
    rules = chosen_rules(server.rules, chosen)
    before = journals_in(journal)
    serving = serve(DIALECTS[game], rules, host, port, tell=told.tell, show=told.show, journal=journal)
    try:
        served = event_loop.run(serving)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{on_record(journal, before)}") from None
    click.echo(json.dumps(server.result(served.ranks, served.out), separators=(",", ":")))


def chosen_rules(usual: ServerRules, chosen: dict[str, Any]) -> ServerRules:
    """The rules with some numbers of the host's. Raises BadRequest if they make no sense together."""
    rules = replace(usual, **chosen)
    if rules.least > rules.most:
        least, most = (
            f"{option} {number}" if name in chosen else f"the course's {option} {number}"
            for name, option, number in (("least", "--min", rules.least), ("most", "--max", rules.most))
        )
        raise BadRequest(f"{least} is more than {most}")
    return rules


def journals_in(folder: str | None) -> set[Path]:
    """All journals of matches in a folder, or in that of a tournament."""
    return set() if folder is None else {*Path(folder).glob("*.jsonl"), *Path(folder, MATCHES).glob("*.jsonl")}


def on_record(folder: str | None, before: set[Path]) -> str:
    """What to say behind an interruption, if anything was recorded since."""
    if folder is None or not journals_in(folder) - before:
        return ""
    return f", and the clients are gone; what was played is on record: fairplay library list {quoted(folder)}"
