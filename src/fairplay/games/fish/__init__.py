from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import Stage, State
from fairplay.games.fish.view import View

__all__ = ["Action", "Fish", "Move", "Place", "Stage", "State", "View"]
