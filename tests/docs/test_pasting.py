"""Every Python block of a page can be pasted into a Python prompt as it stands.

A prompt reads line by line: an empty line ends a compound statement, and a statement at the margin
right below one is a syntax error there, although a file with the same lines is fine.
"""

from codeop import CommandCompiler

import pytest

from tests.docs.blocks import blocks, pages


def type_into_prompt(text: str) -> str | None:
    """Return the first line that a Python prompt refuses, or None. One Enter follows the text."""
    compiler = CommandCompiler()
    statement: list[str] = []
    for line in [*text.splitlines(), ""]:
        statement.append(line)
        try:
            code = compiler("\n".join(statement), symbol="single")
        except SyntaxError as error:
            return f"{line!r}: {error.msg}"
        if code is not None:
            statement = []
    return "the last statement is unfinished" if any(statement) else None


@pytest.mark.parametrize("page", pages())
def test_the_python_blocks_of_a_page_paste_into_a_prompt(page: str) -> None:
    refused = {
        block.where: problem
        for block in blocks(page)
        if block.language == "python" and not block.file
        if (problem := type_into_prompt(block.text))
    }
    assert not refused


@pytest.mark.parametrize(
    "text",
    ["for n in range(2):\n    print(n)\nprint('after')\n", "def f():\n    a = 1\n\n    return a\n", "print((1,\n"],
)
def test_a_block_that_a_prompt_refuses_is_found(text: str) -> None:
    assert type_into_prompt(text)
