"""Show examples in docstrings as code on the site; mkdocs.yml names this file."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>> .*\n(?:.+(?:\n|\Z))*)", re.MULTILINE)


class FenceExamples(griffe.Extension):
    """Puts examples with a prompt between fences, up to the next empty line."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called for each object in the package."""
        if obj.docstring:
            obj.docstring.value = fence_examples(obj.docstring.value)


def fence_examples(text: str) -> str:
    r"""A docstring with its examples as code blocks.

    >>> fence_examples("Add.\n\n>>> 1 + 1\n2")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n'
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
