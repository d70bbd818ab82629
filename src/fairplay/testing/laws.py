"""State the laws of a game one by one, each as a function that raises AssertionError where it is broken."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from fairplay.core.chance import Lots
from fairplay.core.errors import BadRequest, IllegalAction, NotOnTurn
from fairplay.core.events import Ejected
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.testing.playouts import AnyMatch, Position, Sampling, packed, play_on, under, ways_out

JUNK: tuple[Any, ...] = (None, True, 7, "junk", [], {}, [[1, 2]], {"junk": 1})  # neither a state nor a view


class Trial(msgspec.Struct):
    """What the laws are tried with."""

    sampling: Sampling
    pieces: Callable[[Any], object]
    reshuffle: Callable[[Any, Seat | None, Lots], Any] | None
    strangers: list[Any]  # actions from elsewhere
    hidden: bool = False  # did the reshuffle ever find something to change?


Law = Callable[[Position, Trial], None]


def values_never_change(position: Position, trial: Trial) -> None:
    """Neither later play nor any question leaves a mark on a state."""
    match = position.match
    hold(packed(match) == position.packed, "this state changed while the match went on")
    for seat in everybody(match):
        match.view(seat)
        offered(match, seat)
    hold(packed(match) == position.packed, "looking at this state changed it")


def same_seed_same_deal(position: Position, trial: Trial) -> None:
    """A deal depends on nothing but the parameters, the number of seats and the seed."""
    if position.seed is not None:
        again = position.match.game.deal(len(position.match.names), position.seed)
        hold(again == position.match.state, "the second deal differs from the first")


def same_answers_same_match(position: Position, trial: Trial) -> None:
    """All chance is in the deal: the same question has the same answer."""
    match, game = position.match, position.match.game
    if position.before is not None and position.fact is not None:
        hold(position.before.after(position.fact) == match, f"the second time {position.fact} led elsewhere")
    for one, other in zip(views(match), views(match), strict=True):
        hold(one == other, "two looks at the same state differ")
    hold(offered(match, match.turn) == offered(match, match.turn), "the actions differ from one look to the next")
    hold(match.result == match.result and game.order(match.state) == game.order(match.state), "two results differ")


def what_is_written_can_be_read(position: Position, trial: Trial) -> None:
    """States, views and news survive being written down, as plain values and as bytes."""
    match, game = position.match, position.match.game
    plain = game.pack_state(match.state)
    hold(game.unpack_state(plain) == match.state, "unpack_state does not give back what pack_state took")
    hold(game.unpack_state(through_json(plain)) == match.state, "the state does not survive JSON")
    for view in views(match):
        plain = game.pack(view)
        hold(game.unpack(plain) == view, "unpack does not give back what pack took")
        hold(game.pack_text(view) == msgspec.json.encode(plain), "pack_text writes something else than pack gives")
        hold(game.unpack(through_json(plain)) == view, "the view does not survive JSON")
    for news in match.owed:
        through_json(news.content)


def nothing_else_can_be_read(position: Position, trial: Trial) -> None:
    """Junk is refused as a bad request."""
    if position.before is None:
        for junk in JUNK:
            refuses(position.match.game.unpack, junk)
            refuses(position.match.game.unpack_state, junk)


def what_is_offered_is_legal(position: Position, trial: Trial) -> None:
    """Every action in `actions` passes `check`, is there once, and survives JSON."""
    match, game = position.match, position.match.game
    found = offered(match, match.turn)
    hold(len(set(found)) == len(found), "an action is offered twice")
    for action in found:
        hold(reads(game, through_json(action)) == action, f"{action!r} does not survive JSON")
        hold(legal(game, match.view(match.turn), action), f"{action!r} is offered, but check refuses it")


def what_is_not_offered_is_illegal(position: Position, trial: Trial) -> None:
    """Whatever is not in `actions` fails `check`, and fails it as an illegal action."""
    match = position.match
    for seat in everybody(match):
        found, view = set(offered(match, seat)), match.view(seat)
        for action in trial.strangers:
            if action not in found:
                hold(not legal(match.game, view, action), f"{action!r} is not offered, but check accepts it")


def only_the_seat_on_turn_acts(position: Position, trial: Trial) -> None:
    """Whoever asks for the actions of anybody else, spectators least of all, is told so at once."""
    match = position.match
    for seat in everybody(match):
        if seat is None or seat != match.turn:
            try:
                match.game.actions(match.view(seat))
            except NotOnTurn:
                continue
            raise AssertionError(f"seat {seat} may ask for actions, but it is not its turn")


def turn_and_order_agree(position: Position, trial: Trial) -> None:
    """The order starts with the seat on turn, and names nobody twice and nobody ejected."""
    lawful_order(position.match)


def exactly_the_seated_are_ranked(position: Position, trial: Trial) -> None:
    """The ranking has everybody who was not ejected once, in groups of one or more."""
    lawful_ranking(position.match)


def scores_are_by_seat_and_rank(position: Position, trial: Trial) -> None:
    """Where there are points every seat has some, they rank those who are seated, and the ejected keep theirs."""
    lawful_scores(position.before or position.match, position.match)


def news_is_for_the_seated(position: Position, trial: Trial) -> None:
    """Whoever is to be told something is still there to be told."""
    for news in position.match.owed:
        hold(news.seat in position.match.seated, f"there is news for seat {news.seat}, which is not seated")


def pieces_are_kept(position: Position, trial: Trial) -> None:
    """Nothing is lost and nothing doubled by an action."""
    if position.before is not None:
        lawful_pieces(position.before, position.match, trial)


def views_hide_what_they_must(position: Position, trial: Trial) -> None:
    """A view does not depend on what its seat may not know."""
    if trial.reshuffle is None:
        return
    match, game = position.match, position.match.game
    for seat in everybody(match):
        other = trial.reshuffle(match.state, seat, trial.sampling.lots)
        trial.hidden = trial.hidden or other != match.state
        one, two = match.view(seat), game.view(other, seat)
        hold(one == two and game.pack(one) == game.pack(two), f"seat {seat} sees what it may not know")


def what_is_imagined_may_be(position: Position, trial: Trial) -> None:
    """A view of what was imagined from a view is that view; and it can be played on from there, to the end."""
    match, game = position.match, position.match.game
    seed = trial.sampling.lots.below(2**32).to_bytes(4, "big")
    for seat in everybody(match):
        view = match.view(seat)
        imagined = game.imagine(view, seed)
        hold(imagined == game.imagine(view, seed), "what is imagined from one seed differs the second time")
        hold(game.view(imagined, seat) == view, f"seat {seat} sees something else in what was imagined from its view")
        hold(game.turn(imagined) == match.turn, "in what was imagined it is somebody else's turn")
        hold(game.order(imagined) == game.order(match.state), "in what was imagined the order is another")
    seats = everybody(match)
    start = match.view(seats[trial.sampling.lots.below(len(seats))])
    with under("in what was imagined: {}"):
        for _, later in play_on(replace(match, state=game.imagine(start, seed)), trial.sampling):
            lawful_order(later)
    hold(packed(match) == position.packed, "what was imagined changed this state")


def ejection_leaves_a_game(position: Position, trial: Trial) -> None:
    """Whoever is ejected, at whatever moment: the rest play on to the end, and keep every law."""
    for ejected in ways_out(position.match):
        with under(f"{said(ejected)}; then {{}}"):
            after = position.match.after(ejected)
            hold(position.match.after(ejected) == after, "once more, which led elsewhere")
            hold(packed(position.match) == position.packed, "the state before that had changed")
            lawful(position.match, after, trial)
            for _, later in play_on(after, trial.sampling):
                lawful(after, later, trial)
                after = later


def anybody_can_leave(position: Position, trial: Trial) -> None:
    """They can be ejected one after the other in any order, until nobody is left."""
    match, lots = position.match, trial.sampling.lots
    leaving = list(match.seated)
    lots.shuffle(leaving)
    for seat in leaving:
        for _, later in islice(play_on(match, trial.sampling), lots.below(3)):  # an action or two in between
            match = later
        ways = [ejected for ejected in ways_out(match) if ejected.seat == seat]
        if ways:  # it may have been out of options in between
            before, match = match, match.after(ways[lots.below(len(ways))])
            lawful(before, match, trial)
    hold(match.turn is None, f"nobody is left, but it is the turn of seat {match.turn}")


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
    anybody_can_leave,
)
DEAR = frozenset(  # not tried everywhere
    {what_is_not_offered_is_illegal, what_is_imagined_may_be, ejection_leaves_a_game, anybody_can_leave}
)


def lawful(before: AnyMatch, after: AnyMatch, trial: Trial) -> None:
    """What must be true after every fact."""
    lawful_order(after)
    lawful_ranking(after)
    lawful_scores(before, after)
    lawful_pieces(before, after, trial)


def lawful_order(match: AnyMatch) -> None:
    """See `turn_and_order_agree`."""
    order, turn = match.game.order(match.state), match.turn
    out = {ejected.seat for ejected in match.ejected}
    hold(turn is None or order[:1] == (turn,), f"it is the turn of seat {turn}, but the order is {order}")
    hold(len(set(order)) == len(order), f"the order {order} names a seat twice")
    hold(set(order) <= set(range(len(match.names))), f"the order {order} names a seat that does not exist")
    hold(not out & set(order), f"the order {order} names a seat that was ejected")


def lawful_ranking(match: AnyMatch) -> None:
    """See `exactly_the_seated_are_ranked`."""
    ranking = match.game.ranking(match.state)
    ranked = sorted(seat for group in ranking for seat in group)
    hold(all(ranking), f"the ranking {ranking} has a group of nobody")
    hold(ranked == sorted(match.seated), f"seats {ranked} are ranked, but {sorted(match.seated)} are seated")


def lawful_scores(before: AnyMatch, after: AnyMatch) -> None:
    """See `scores_are_by_seat_and_rank`."""
    had, has = before.game.scores(before.state), after.game.scores(after.state)
    hold((had is None) == (has is None), f"there are points in one state and none in the next: {had} and {has}")
    if had is None or has is None:
        return
    hold(len(has) == len(after.names), f"there are {len(after.names)} seats, but the scores are {has}")
    hold(all(type(score) is int for score in has), f"not all scores are whole numbers: {has}")
    for seat in sorted(ejected.seat for ejected in after.ejected):
        hold(had[seat] == has[seat], f"seat {seat} is ejected, and its score went from {had[seat]} to {has[seat]}")
    groups = [sorted({has[seat] for seat in group}) for group in after.game.ranking(after.state)]
    hold(all(len(group) == 1 for group in groups), f"some share a rank with different scores: {groups}")
    best_first = [score for group in groups for score in group]
    hold(best_first == sorted(best_first, reverse=True), f"the scores in the order of the ranking are {best_first}")


def lawful_pieces(before: AnyMatch, after: AnyMatch, trial: Trial) -> None:
    """See `pieces_are_kept`."""
    had, has = trial.pieces(before.state), trial.pieces(after.state)
    hold(had == has, f"the pieces were {had!r} and became {has!r}")


def legal(game: Game[Any, Any, Any], view: Any, action: Any) -> bool:
    """Does check accept it? If not, it must name the clause and say why."""
    try:
        game.check(view, action)
    except IllegalAction as illegal:
        hold(bool(illegal.clause and illegal.why), f"{action!r} is refused without a clause or a reason")
        return False
    return True


def reads(game: Game[Any, Any, Any], plain: Any) -> Any:
    """The action that a channel would take this for; None: it would refuse it."""
    try:
        return msgspec.convert(plain, game.action)
    except msgspec.ValidationError:
        return None


def refuses(read: Callable[[Any], Any], junk: Any) -> None:
    """Junk must be a bad request, and nothing worse."""
    try:
        read(junk)
    except BadRequest:
        return
    raise AssertionError(f"{read.__name__} takes {junk!r} for good")


def offered(match: AnyMatch, seat: Seat | None) -> list[Any]:
    """What a seat may do: nothing, unless it is on turn."""
    return list(match.game.actions(match.view(seat))) if seat is not None and seat == match.turn else []


def everybody(match: AnyMatch) -> tuple[Seat | None, ...]:
    """All seats, and the spectator."""
    return (*range(len(match.names)), None)


def views(match: Match[Any, Any, Any]) -> Iterator[Any]:
    """What everybody sees, the ejected and the spectators too."""
    return (match.view(seat) for seat in everybody(match))


def through_json(value: Any) -> Any:
    """The value as another program would read it."""
    return msgspec.json.decode(msgspec.json.encode(value))


def said(ejected: Ejected) -> str:
    """An ejection in words."""
    return f"seat {ejected.seat} was ejected at the {ejected.moment.value}"


def hold(truth: bool, why: str) -> None:
    """Break the law under which we are, unless it holds."""
    if not truth:
        raise AssertionError(why)
