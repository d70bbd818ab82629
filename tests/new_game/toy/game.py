"""Implement the rules of the toy."""

from tests.toy import Toy

__all__ = ["Toy"]
