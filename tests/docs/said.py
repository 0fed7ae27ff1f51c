"""Whether what happened is what a page says. Some of it is never twice the same."""

import re

SCORE = re.compile(r"  \d\.\d\d  ")  # is as the weights are, and these are set by measurement
AGE = re.compile(r"  (now|\d+[mhdy])  ")
# On a page an id has a digit, a small and a capital letter, so that it is no word.
_ONE = "[0-9A-Za-z]"
ID = re.compile(rf"(?<!{_ONE})(?={_ONE}*\d)(?={_ONE}*[a-z])(?={_ONE}*[A-Z]){_ONE}{{8,12}}(?!{_ONE})")
ANYTHING = "…"


def same_text(written: str, happened: str) -> bool:
    """To the letter; an ellipsis on the page stands for anything."""
    if ANYTHING not in written:
        return written == happened
    return re.fullmatch(re.escape(written).replace(ANYTHING, ".*"), happened, re.DOTALL) is not None


def same_answer(written: str, happened: str) -> bool:
    """As JSON, which is laid out on a page as fits there; with ellipses for fields left out."""
    squeezed = _squeezed(written).replace("…,", "…").replace(",…", "…")
    pattern = re.escape(squeezed).replace("…", ".*")
    return re.fullmatch(pattern, _squeezed(happened)) is not None


def _squeezed(written: str) -> str:
    return re.sub(r"\s", "", written)


class Ids:
    """Which id of ours stands for which on the page: the first time that both are shown."""

    def __init__(self) -> None:
        self._ours: dict[str, str] = {}

    def here(self, written: str) -> str:
        return ID.sub(lambda found: self._ours.get(found[0], found[0]), written)

    def meet(self, written: str, happened: str) -> None:
        """Line by line, an id on the page and what stands in its place."""
        for theirs, ours in zip(written.splitlines(), happened.splitlines(), strict=False):
            for one, other in zip(theirs.split(), ours.split(), strict=False):
                found = ID.search(one)
                if found and other.startswith(one[: found.start()]):
                    self._ours.setdefault(found[0], other[found.start() : found.end()])


def same_session(written: str, happened: str, ids: Ids) -> bool:
    """But for how it is spaced at its end, which the prompt after it begins anew."""
    written = written.rstrip("\n")
    ids.meet(written, happened)
    return same_text(_settled(ids.here(written)), _settled(happened).rstrip("\n"))


def _settled(printed: str) -> str:
    return SCORE.sub("  0.50  ", AGE.sub("  now  ", printed))
