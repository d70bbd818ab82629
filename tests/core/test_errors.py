"""Check that exceptions say whose fault it was."""

import pytest

from fairplay.core.errors import BadJournal, BadRequest, FairplayError, HostFault, IllegalAction


def test_an_illegal_action_names_the_clause_and_the_reason() -> None:
    illegal = IllegalAction("4.2", "no straight line leads there")

    assert str(illegal) == "rule 4.2: no straight line leads there"
    assert (illegal.clause, illegal.why) == ("4.2", "no straight line leads there")


def test_a_bad_journal_names_the_line_or_the_file_as_a_whole() -> None:
    assert str(BadJournal(7, "cut short")) == "line 7: cut short"
    assert str(BadJournal(0, "empty")) == "empty"


@pytest.mark.parametrize(
    "error",
    [IllegalAction("1", "no"), BadRequest("no"), BadJournal(1, "no"), HostFault("no")],
    ids=lambda e: type(e).__name__,
)
def test_all_exceptions_of_fairplay_have_one_base_class(error: Exception) -> None:
    assert isinstance(error, FairplayError)


def test_faults_of_host_caller_and_player_are_separate_classes() -> None:
    assert not issubclass(HostFault, BadRequest)
    assert not issubclass(IllegalAction, BadRequest)
    assert issubclass(BadJournal, BadRequest)
