"""Test that escape attempts get out of Landlock only where it claims nothing."""

import json
import os
import sys
from pathlib import Path

import pytest

from fairplay.testing.escapes.escape_suite import ESCAPE_SUITE
from fairplay.testing.escapes.runner import Verdict, run_escape_attempts
from tests.players.machine import needs_landlock, needs_strict
from tests.players.sandbox_hosts import Host, unused_user_id

pytestmark = needs_landlock


@pytest.mark.nightly
def test_the_escape_suite_gets_out_only_where_landlock_claims_nothing() -> None:
    results = run_escape_attempts(ESCAPE_SUITE, sandbox="landlock")

    assert [(result.name, result.why) for result in results if result.verdict is Verdict.GOT_OUT] == []
    unclaimed = {result.name for result in results if result.verdict is Verdict.NOT_CLAIMED}
    assert unclaimed <= {attempt.name for attempt in ESCAPE_SUITE if attempt.beyond_landlock}
    untried = [result.why for result in results if result.verdict is Verdict.NOT_TRIED]
    assert all("control group" in why or "compiler" in why for why in untried), untried


@needs_strict  # bubblewrap shows the user our files
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_escape_suite_of_an_ordinary_user_gets_out_only_where_landlock_claims_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    user = Host(unused_user_id(), tmp_path)
    user.take_ownership(tmp_path)

    done = user.run_freely(
        *(sys.executable, "-m", "fairplay", "doctor", "--attack", "--sandbox", "landlock", "--json"), within=200
    )

    results = json.loads(done.out)["attempts"]
    assert [(it["name"], it["why"]) for it in results if it["verdict"] == "got out"] == []
    assert (done.code, len(results)) == (0, len(ESCAPE_SUITE))
