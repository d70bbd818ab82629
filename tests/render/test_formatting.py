"""Test that quoted texts are safe in a shell."""

import subprocess

import pytest

from fairplay.render.formatting import shell_quote


@pytest.mark.parametrize("text", ["a b", "it's", "\x1b[2J'\\x", "a\nb", "caf\u00e9 \u202e", "\udcff-9", "$HOME `id` !"])
def test_whatever_is_quoted_is_the_same_for_a_shell(text: str) -> None:
    line = shell_quote(text)

    done = subprocess.run(["bash", "-c", f"printf %s {line}"], capture_output=True, check=True)

    assert line.isprintable()
    assert done.stdout == text.encode(errors="surrogateescape")
