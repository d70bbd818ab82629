from fairplay.kit.game import Action, Board, BoardGame, Player, State, View

__all__ = ["Action", "Board", "BoardGame", "Player", "State", "View"]
