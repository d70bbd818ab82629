"""State the laws of games, each as a function that raises AssertionError where it is broken."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from fairplay.core.chance import SeededRandom
from fairplay.core.errors import BadRequest, IllegalAction, NotOnTurn
from fairplay.core.events import Ejected
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.testing.playouts import (
    AnyMatch,
    Position,
    Sampling,
    law_failure_heading,
    pack_state,
    play_events,
    possible_ejections,
)

JUNK: tuple[Any, ...] = (None, True, 7, "junk", [], {}, [[1, 2]], {"junk": 1})  # neither a state nor a view


class LawInputs(msgspec.Struct):
    """What the laws are checked with."""

    sampling: Sampling
    pieces: Callable[[Any], object]
    reshuffle: Callable[[Any, Seat | None, SeededRandom], Any] | None
    foreign_actions: list[Any]  # actions that other positions offered, and mutants
    has_hidden_information: bool = False  # did the reshuffle ever find something to change?


Law = Callable[[Position, LawInputs], None]


def values_never_change(position: Position, inputs: LawInputs) -> None:
    """Neither later play nor any question changes a state."""
    match = position.match
    require(pack_state(match) == position.packed, "this state changed while the match went on")
    for seat in all_viewers(match):
        match.view(seat)
        legal_actions(match, seat)
    require(pack_state(match) == position.packed, "looking at this state changed it")


def same_seed_same_deal(position: Position, inputs: LawInputs) -> None:
    """A deal depends on nothing but the parameters, the number of seats and the seed."""
    if position.seed is not None:
        again = position.match.game.deal(len(position.match.names), position.seed)
        require(again == position.match.state, "the second deal differs from the first")


def same_answers_same_match(position: Position, inputs: LawInputs) -> None:
    """All chance is in the deal: the same question has the same answer."""
    match, game = position.match, position.match.game
    if position.before is not None and position.fact is not None:
        require(position.before.after(position.fact) == match, f"the second time {position.fact} gave another result")
    for one, other in zip(all_views(match), all_views(match), strict=True):
        require(one == other, "two looks at the same state differ")
    require(
        legal_actions(match, match.turn) == legal_actions(match, match.turn),
        "the actions differ from one look to the next",
    )
    require(match.result == match.result and game.order(match.state) == game.order(match.state), "two results differ")


def what_is_written_can_be_read(position: Position, inputs: LawInputs) -> None:
    """States, views and news can be written and read again, as plain values and as bytes."""
    match, game = position.match, position.match.game
    plain = game.pack_state(match.state)
    require(game.unpack_state(plain) == match.state, "unpack_state does not give back what pack_state took")
    require(game.unpack_state(json_round_trip(plain)) == match.state, "the state does not survive JSON")
    for view in all_views(match):
        plain = game.pack(view)
        require(game.unpack(plain) == view, "unpack does not give back what pack took")
        require(game.pack_text(view) == msgspec.json.encode(plain), "pack_text differs from pack")
        require(game.unpack(json_round_trip(plain)) == view, "the view does not survive JSON")
    for news in match.pending_news:
        json_round_trip(news.content)


def nothing_else_can_be_read(position: Position, inputs: LawInputs) -> None:
    """Junk is refused as a bad request."""
    if position.before is None:
        for junk in JUNK:
            check_refused(position.match.game.unpack, junk)
            check_refused(position.match.game.unpack_state, junk)


def what_is_offered_is_legal(position: Position, inputs: LawInputs) -> None:
    """Every action in `actions` passes `check`, is there once, and survives JSON."""
    match, game = position.match, position.match.game
    found = legal_actions(match, match.turn)
    require(len(set(found)) == len(found), "an action is offered twice")
    for action in found:
        require(read_action(game, json_round_trip(action)) == action, f"{action!r} does not survive JSON")
        require(is_legal(game, match.view(match.turn), action), f"{action!r} is offered, but check refuses it")


def what_is_not_offered_is_illegal(position: Position, inputs: LawInputs) -> None:
    """Whatever is not in `actions` fails `check`, and fails it as an illegal action."""
    match = position.match
    for seat in all_viewers(match):
        found, view = set(legal_actions(match, seat)), match.view(seat)
        for action in inputs.foreign_actions:
            if action not in found:
                require(not is_legal(match.game, view, action), f"{action!r} is not offered, but check accepts it")


def only_the_seat_on_turn_acts(position: Position, inputs: LawInputs) -> None:
    """Only the view of the seat on turn has actions; for any other view `actions` raises NotOnTurn."""
    match = position.match
    for seat in all_viewers(match):
        if seat is None or seat != match.turn:
            try:
                match.game.actions(match.view(seat))
            except NotOnTurn:
                continue
            raise AssertionError(f"seat {seat} may ask for actions, but it is not its turn")


def turn_and_order_agree(position: Position, inputs: LawInputs) -> None:
    """The order starts with the seat on turn, and has no seat twice and no ejected seat."""
    check_order(position.match)


def exactly_the_seated_are_ranked(position: Position, inputs: LawInputs) -> None:
    """The ranking has every seat that was not ejected once, in groups of one or more."""
    check_ranking(position.match)


def scores_are_by_seat_and_rank(position: Position, inputs: LawInputs) -> None:
    """Where there are points every seat has some, they rank those who are seated, and the ejected keep theirs."""
    check_scores(position.before or position.match, position.match)


def news_is_for_the_seated(position: Position, inputs: LawInputs) -> None:
    """News is only for seats that are still there."""
    for news in position.match.pending_news:
        require(news.seat in position.match.remaining_seats, f"there is news for seat {news.seat}, which is not seated")


def pieces_are_kept(position: Position, inputs: LawInputs) -> None:
    """No action loses or doubles a piece."""
    if position.before is not None:
        check_pieces(position.before, position.match, inputs)


def views_hide_what_they_must(position: Position, inputs: LawInputs) -> None:
    """A view does not depend on what its seat may not know."""
    if inputs.reshuffle is None:
        return
    match, game = position.match, position.match.game
    for seat in all_viewers(match):
        other = inputs.reshuffle(match.state, seat, inputs.sampling.lots)
        inputs.has_hidden_information = inputs.has_hidden_information or other != match.state
        one, two = match.view(seat), game.view(other, seat)
        require(one == two and game.pack(one) == game.pack(two), f"seat {seat} sees what it may not know")


def what_is_imagined_may_be(position: Position, inputs: LawInputs) -> None:
    """A state imagined from a view has that view, and the match can go on from it to the end."""
    match, game = position.match, position.match.game
    seed = inputs.sampling.lots.below(2**32).to_bytes(4, "big")
    for seat in all_viewers(match):
        view = match.view(seat)
        imagined = game.imagine(view, seed)
        require(imagined == game.imagine(view, seed), "what is imagined from one seed differs the second time")
        require(
            game.view(imagined, seat) == view, f"seat {seat} sees something else in what was imagined from its view"
        )
        require(game.turn(imagined) == match.turn, "in what was imagined it is the turn of another seat")
        require(game.order(imagined) == game.order(match.state), "in what was imagined the order is another")
    seats = all_viewers(match)
    start = match.view(seats[inputs.sampling.lots.below(len(seats))])
    with law_failure_heading("in what was imagined: {}"):
        for _, later in play_events(replace(match, state=game.imagine(start, seed)), inputs.sampling):
            check_order(later)
    require(pack_state(match) == position.packed, "what was imagined changed this state")


def ejection_leaves_a_game(position: Position, inputs: LawInputs) -> None:
    """After any ejection, at any moment, the others play on to the end, and keep every law."""
    for ejected in possible_ejections(position.match):
        with law_failure_heading(f"{describe_ejection(ejected)}; then {{}}"):
            after = position.match.after(ejected)
            require(position.match.after(ejected) == after, "once more, with another result")
            require(pack_state(position.match) == position.packed, "the state before that had changed")
            check_invariants(position.match, after, inputs)
            for _, later in play_events(after, inputs.sampling):
                check_invariants(after, later, inputs)
                after = later


def players_can_leave_in_any_order(position: Position, inputs: LawInputs) -> None:
    """The players can be ejected one after the other in any order, until none is left."""
    match, lots = position.match, inputs.sampling.lots
    leaving = list(match.remaining_seats)
    lots.shuffle(leaving)
    for seat in leaving:
        for _, later in islice(play_events(match, inputs.sampling), lots.below(3)):  # an action or two in between
            match = later
        ways = [ejected for ejected in possible_ejections(match) if ejected.seat == seat]
        if ways:  # it may have been out of options in between
            before, match = match, match.after(ways[lots.below(len(ways))])
            check_invariants(before, match, inputs)
    require(match.turn is None, f"no player is left, but it is the turn of seat {match.turn}")


LAWS: tuple[Law, ...] = (
    values_never_change,
    same_seed_same_deal,
    same_answers_same_match,
    what_is_written_can_be_read,
    nothing_else_can_be_read,
    turn_and_order_agree,
    only_the_seat_on_turn_acts,
    what_is_offered_is_legal,
    what_is_not_offered_is_illegal,
    exactly_the_seated_are_ranked,
    scores_are_by_seat_and_rank,
    news_is_for_the_seated,
    pieces_are_kept,
    views_hide_what_they_must,
    what_is_imagined_may_be,
    ejection_leaves_a_game,
    players_can_leave_in_any_order,
)
EXPENSIVE_LAWS = frozenset(  # not tried everywhere
    {what_is_not_offered_is_illegal, what_is_imagined_may_be, ejection_leaves_a_game, players_can_leave_in_any_order}
)


def check_invariants(before: AnyMatch, after: AnyMatch, inputs: LawInputs) -> None:
    """Check what must be true after every fact."""
    check_order(after)
    check_ranking(after)
    check_scores(before, after)
    check_pieces(before, after, inputs)


def check_order(match: AnyMatch) -> None:
    """See `turn_and_order_agree`."""
    order, turn = match.game.order(match.state), match.turn
    out = {ejected.seat for ejected in match.ejected}
    require(turn is None or order[:1] == (turn,), f"it is the turn of seat {turn}, but the order is {order}")
    require(len(set(order)) == len(order), f"the order {order} names a seat twice")
    require(set(order) <= set(range(len(match.names))), f"the order {order} names a seat that does not exist")
    require(not out & set(order), f"the order {order} names a seat that was ejected")


def check_ranking(match: AnyMatch) -> None:
    """See `exactly_the_seated_are_ranked`."""
    ranking = match.game.ranking(match.state)
    ranked = sorted(seat for group in ranking for seat in group)
    require(all(ranking), f"the ranking {ranking} has an empty group")
    require(
        ranked == sorted(match.remaining_seats),
        f"seats {ranked} are ranked, but {sorted(match.remaining_seats)} are seated",
    )


def check_scores(before: AnyMatch, after: AnyMatch) -> None:
    """See `scores_are_by_seat_and_rank`."""
    had, has = before.game.scores(before.state), after.game.scores(after.state)
    require((had is None) == (has is None), f"there are points in one state and none in the next: {had} and {has}")
    if had is None or has is None:
        return
    require(len(has) == len(after.names), f"there are {len(after.names)} seats, but the scores are {has}")
    require(all(type(score) is int for score in has), f"not all scores are whole numbers: {has}")
    for seat in sorted(ejected.seat for ejected in after.ejected):
        require(had[seat] == has[seat], f"seat {seat} is ejected, and its score went from {had[seat]} to {has[seat]}")
    groups = [sorted({has[seat] for seat in group}) for group in after.game.ranking(after.state)]
    require(all(len(group) == 1 for group in groups), f"some share a rank with different scores: {groups}")
    best_first = [score for group in groups for score in group]
    require(best_first == sorted(best_first, reverse=True), f"the scores in the order of the ranking are {best_first}")


def check_pieces(before: AnyMatch, after: AnyMatch, inputs: LawInputs) -> None:
    """See `pieces_are_kept`."""
    had, has = inputs.pieces(before.state), inputs.pieces(after.state)
    require(had == has, f"the pieces were {had!r} and became {has!r}")


def is_legal(game: Game[Any, Any, Any], view: Any, action: Any) -> bool:
    """Does `check` accept the action? If not, it must name the clause and say why."""
    try:
        game.check(view, action)
    except IllegalAction as illegal:
        require(bool(illegal.clause and illegal.why), f"{action!r} is refused without a clause or a reason")
        return False
    return True


def read_action(game: Game[Any, Any, Any], plain: Any) -> Any:
    """The action that a channel would read from this; None: it would refuse it."""
    try:
        return msgspec.convert(plain, game.action)
    except msgspec.ValidationError:
        return None


def check_refused(read: Callable[[Any], Any], junk: Any) -> None:
    """Check that junk is a bad request."""
    try:
        read(junk)
    except BadRequest:
        return
    raise AssertionError(f"{read.__name__} accepts {junk!r}")


def legal_actions(match: AnyMatch, seat: Seat | None) -> list[Any]:
    """The actions of a seat; none unless it is on turn."""
    return list(match.game.actions(match.view(seat))) if seat is not None and seat == match.turn else []


def all_viewers(match: AnyMatch) -> tuple[Seat | None, ...]:
    """All seats, and the spectator."""
    return (*range(len(match.names)), None)


def all_views(match: Match[Any, Any, Any]) -> Iterator[Any]:
    """The views of all seats, the ejected too, and of the spectators."""
    return (match.view(seat) for seat in all_viewers(match))


def json_round_trip(value: Any) -> Any:
    """The value as another program would read it."""
    return msgspec.json.decode(msgspec.json.encode(value))


def describe_ejection(ejected: Ejected) -> str:
    """An ejection as text."""
    return f"seat {ejected.seat} was ejected at the {ejected.moment.value}"


def require(holds: bool, why: str) -> None:
    """Raise AssertionError unless this holds."""
    if not holds:
        raise AssertionError(why)
