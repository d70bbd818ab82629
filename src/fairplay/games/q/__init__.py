from fairplay.games.q.actions import Action, Exchange, Pass, Place, Placement
from fairplay.games.q.draft import Draft, draft_of
from fairplay.games.q.game import Q
from fairplay.games.q.state import State
from fairplay.games.q.view import Tile, View

__all__ = ["Action", "Draft", "Exchange", "Pass", "Place", "Placement", "Q", "State", "Tile", "View", "draft_of"]
