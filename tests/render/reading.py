"""Read pictures: their named parts, the shapes that are used in them, and their words."""

from functools import lru_cache
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


root = lru_cache(maxsize=8)(ElementTree.fromstring)


def part(picture: str, name: str) -> ElementTree.Element:
    """The part with this id, which is after the name of the game; an empty one if there is none."""
    parts = root(picture).iter()
    return next((part for part in parts if part.get("id", "").partition("-")[2] == name), ElementTree.Element("none"))


def uses(picture: str, name: str) -> list[ElementTree.Element]:
    return list(part(picture, name).iter(f"{SVG}use"))


def shape(use: ElementTree.Element) -> str:
    return use.get("href", "").partition("-")[2]


def said(picture: str) -> list[str]:
    return ["".join(words.itertext()) for words in root(picture).iter(f"{SVG}text")]
