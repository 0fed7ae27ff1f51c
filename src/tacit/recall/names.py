"""The people whom a requester knows, found again in the words of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from tacit.records.accounts import Person
from tacit.records.request import Request
from tacit.records.text import split_words

Known = tuple[tuple[str, ...], str, frozenset[str]]  # the words of a name, the name, whose it is


class Called(Mapping[str, str]):
    """What people go by, by identity: found when it is first asked for."""

    def __init__(self, find: Callable[[], Mapping[str, str]]) -> None:
        self._find = cache(find)

    def __getitem__(self, identity: str) -> str:
        return self._find()[identity]

    def __iter__(self) -> Iterator[str]:
        return iter(self._find())

    def __len__(self) -> int:
        return len(self._find())


class Names:
    def __init__(self, request: Request, known: Iterable[Person]) -> None:
        self._by_first: dict[str, list[Known]] = {}
        self._labels: dict[str, str] = {}
        for person in known:
            if person.names:
                self._labels |= dict.fromkeys(person.identities, person.names[0].text)
            if person.identities & request.own_identities:
                continue  # nearly everything that one keeps is about oneself
            for name in person.names:
                parts = tuple(split_words(name.text))
                if parts:
                    entry = (parts, name.text, person.identities)
                    self._by_first.setdefault(parts[0], []).append(entry)

    @property
    def labels(self) -> Mapping[str, str]:
        """What people go by, by identity."""
        return self._labels

    def find_in(self, question: str) -> dict[str, frozenset[str]]:
        """The names that are said in a question, with the identities they may mean."""
        if not self._by_first:
            return {}
        asked = split_words(question)
        found: dict[str, frozenset[str]] = {}
        for at, word in enumerate(asked):
            for parts, name, identities in self._by_first.get(word, ()):
                if tuple(asked[at : at + len(parts)]) == parts:
                    found[name] = found.get(name, frozenset()) | identities
        return found

    def labels_of(self, people: Iterable[str]) -> list[str]:
        """What these go by, of those who are known by a name."""
        return sorted({self._labels[one] for one in people if one in self._labels})
