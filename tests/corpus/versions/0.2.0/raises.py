def take_turn(view: object) -> object:
    raise ValueError('no idea')
