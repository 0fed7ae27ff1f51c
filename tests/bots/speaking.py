"""What a scripted model says in a story, by what it is told."""

import re
from collections.abc import Callable, Mapping

from tests.bots.scripted import Answering, Prompt, Spoken

Line = Spoken | Callable[[Prompt], Spoken]


def speaks(lines: Mapping[str, tuple[Line, ...]]) -> Answering:
    """A model that answers to what the person wrote: in each round of a turn the next reply."""

    def answer(prompt: Prompt) -> Spoken:
        own = prompt.said.rpartition("\n\n")[2]
        replies = next((found for words, found in lines.items() if words in own), ("All right.",))
        reply = replies[min(len(prompt.results), len(replies) - 1)]
        return reply(prompt) if callable(reply) else reply

    return answer


def id_of(words: str, prompt: Prompt) -> str:
    """The id that a memory stands under in the prompt."""
    found = re.search(rf"\[id:(\w+)\][^\n]*{words}", prompt.instructions + "\n" + prompt.said)
    assert found is not None, f"{words} is not in the prompt"
    return found[1]
