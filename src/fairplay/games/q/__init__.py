from fairplay.games.q.actions import Action, Exchange, Pass, Place, Placement
from fairplay.games.q.draft import Draft, draft_of
from fairplay.games.q.game import Q
from fairplay.games.q.state import State, View

__all__ = ["Action", "Draft", "Exchange", "Pass", "Place", "Placement", "Q", "State", "View", "draft_of"]
