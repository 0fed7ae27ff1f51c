"""What a speaker says of themselves, put into the third person."""

from __future__ import annotations

from itertools import pairwise, takewhile

from tacit.learn.reading.tongue import Tongue


def third(predicate: str, tongue: Tongue) -> str:
    """ "work at Acme" -> "works at Acme": the first word that is no adverb is the verb."""
    words = predicate.split(" ")
    for position, word in enumerate(words):
        if word.lower() in tongue.words["adverbs"] or tongue.has("manner", word.lower()):
            continue
        words[position] = _third(word, tongue)
        break
    return _joined(words, tongue)


def _joined(words: list[str], tongue: Tongue) -> str:
    """ "is fluent in Dutch and have two cats": a second verb has the same subject."""
    for position, (before, _) in enumerate(pairwise(words), start=1):
        joins = before.lower() in tongue.words["conjunctions"] | tongue.words["coordinating"]
        if joins and opens_with_verb(" ".join(words[position:]), tongue):
            adverbs = takewhile(
                lambda one: one.lower() in tongue.words["adverbs"], words[position:]
            )
            verb = position + len(list(adverbs))
            words[verb] = _third(words[verb], tongue)
    return " ".join(words)


def opens_with_verb(text: str, tongue: Tongue) -> bool:
    """Whether a conjunct begins with a verb whose subject is that of the one before it. A word
    that may be a noun as well needs one that can follow only a verb: "drink a lot"."""
    words = text.split()
    while words and words[0].lower() in tongue.words["adverbs"]:
        words = words[1:]
    if not words:
        return False
    if tongue.patterns["verb_first"].match(" ".join(words)):
        return True
    tags = tongue.frames.get(words[0].lower(), frozenset())
    acts = any(tag.endswith((":bare", ":now")) for tag in tags)
    return acts and len(words) > 1 and words[1].lower() in tongue.words["after_verbs"]


def _third(word: str, tongue: Tongue) -> str:
    verbs, folded = tongue.verbs, word.lower()
    if folded in verbs.irregular:
        return verbs.irregular[folded]
    if folded in verbs.same or folded.endswith(verbs.same_endings) or _past(folded, tongue):
        return folded
    for pattern, new in verbs.endings:
        if pattern.search(folded):
            return pattern.sub(new, folded, count=1)
    return folded


def _past(word: str, tongue: Tongue) -> bool:
    """ "Lent" and "paid" are the same of everybody."""
    tags = tongue.frames.get(word, frozenset())
    return any(tag.endswith(":past") for tag in tags) and not any(
        tag.endswith(":bare") for tag in tags
    )


def within(text: str, speaker: str, tongue: Tongue) -> str:
    """ "The house I live in" -> "the house Alice lives in": the speaker inside a predicate."""
    before, said, rest = _parted(text, tongue)
    while said:
        inner, said, more = _parted(rest, tongue)
        before, rest = f"{before}{speaker} {third(inner, tongue)}", more
    return before


def _parted(text: str, tongue: Tongue) -> tuple[str, str, str]:
    match = tongue.patterns["self_within"].search(text)
    if match is None:
        return text, "", ""
    return text[: match.start()], match[0], text[match.end() :]


def one_of_many(predicate: str, tongue: Tongue) -> str:
    """ "live in Rome" -> "lives in Rome": what many do, as forms know it."""
    words = predicate.split(" ")
    for position, word in enumerate(words):
        folded = word.casefold()
        if folded in tongue.words["adverbs"]:
            continue
        if folded in tongue.verbs.plural:
            words[position] = tongue.verbs.plural[folded]
        elif _past(folded, tongue):
            break
        elif folded not in tongue.verbs.same and not folded.endswith(tongue.verbs.same_endings):
            for pattern, new in tongue.verbs.plural_endings:
                if pattern.search(folded):
                    words[position] = pattern.sub(new, folded, count=1)
                    break
        break
    return " ".join(words)
