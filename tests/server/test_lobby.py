"""Wait for a room, and see when the queue is looked at."""

import asyncio

from fairplay.protocol.nonces import Nonces
from fairplay.server.attendance import Attendance
from fairplay.server.lobby import Lobby
from fairplay.server.settings import offer
from fairplay.server.visitor import Visitor
from fairplay.transport.lasting import LastingLine


def client(name: str, game: str = "") -> Visitor:
    line = LastingLine(1.0, on_lost=lambda: None, on_gone=lambda: None)
    made = Visitor(name, name, 0, line, Nonces())
    made.game = game
    return made


def test_a_client_that_plays_any_game_waits_where_the_fewest_others_are_missing() -> None:
    async def waiting() -> dict[str, list[str]]:
        offers = (offer("fish", {}, least=2, most=4, wait=60), offer("q", {}, least=4, most=4, wait=60))
        lobby = Lobby(offers, lambda offer, visitors: None, Attendance())
        for each in (client("ann", "q"), client("bob", "q"), client("cyd", "q"), client("dan")):
            lobby.add(each)
        found = {queue.offer.game: list(queue.waiting) for queue in lobby.queues}
        lobby.close()
        return found

    assert asyncio.run(waiting()) == {"fish": [], "q": ["ann", "bob", "cyd", "dan"]}


def test_a_client_whose_time_is_up_is_not_looked_at_again_until_another_comes() -> None:
    async def wait() -> int:
        lobby = Lobby((offer("fish", {}, least=2, most=2, wait=0.01),), lambda offer, visitors: None, Attendance())
        [queue] = lobby.queues
        looks, look = 0, queue.look
        is_up = asyncio.Event()

        def counted() -> None:
            nonlocal looks
            looks += 1
            look()
            if looks == 2:  # when it came, and when its time was up
                is_up.set()

        queue.look = counted  # type: ignore[method-assign]
        lobby.add(client("ann"))
        await is_up.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        return looks

    assert asyncio.run(wait()) == 2
