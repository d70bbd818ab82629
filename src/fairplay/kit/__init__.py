from fairplay.kit.game import Action, BoardGame, State, View

__all__ = ["Action", "BoardGame", "State", "View"]
