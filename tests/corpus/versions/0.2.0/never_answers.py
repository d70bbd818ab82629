import time


def take_turn(view: object) -> None:
    time.sleep(1000)
