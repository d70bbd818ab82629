from fairplay.games.tsuro.actions import Action, Lay, Place
from fairplay.games.tsuro.game import Tsuro
from fairplay.games.tsuro.rules import Rules
from fairplay.games.tsuro.state import Stage, State, Table
from fairplay.games.tsuro.view import Tile, View

__all__ = ["Action", "Lay", "Place", "Rules", "Stage", "State", "Table", "Tile", "Tsuro", "View"]
