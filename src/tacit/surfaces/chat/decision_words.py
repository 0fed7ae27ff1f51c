"""The words of a reply to a numbered list, each with the one role that it has, in English and
German."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto


class Role(Enum):
    YES = auto()
    NO = auto()
    WEAK_YES = auto()  # a yes where the reply holds no other yes or no: "ok", "please"
    NOT = auto()
    KEEP = auto()
    DROP = auto()
    ALL = auto()
    BOTH = auto()
    ANY = auto()
    NONE = auto()
    FIRST = auto()
    LAST = auto()
    REST = auto()
    ONLY = auto()
    EXCEPT = auto()
    RANGE = auto()
    BREAK = auto()
    FILLER = auto()
    # Not looked up: what several tokens come to.
    ITEMS = auto()
    WORD = auto()  # of one item
    VAGUE = auto()  # it could mean several items


ROLES: Mapping[str, Role] = {
    word: role
    for role, words in {
        Role.YES: "yes yep yeah yup yea yah ya ye aye y mhm affirmative sure surely absolutely "
        "definitely certainly totally ofc approved confirmed accepted exactly correct "
        "right indeed agreed ja jo jep jup jap joa jawohl klar gerne gern natürlich "
        "sicher genau stimmt richtig einverstanden unbedingt",
        Role.NO: "no nope nah nay naw n negative never wrong incorrect falsch denied rejected "
        "nein nee nö niemals",
        Role.WEAK_YES: "ok okay okey k kk alright fine do please pls plz bitte passt mach",
        Role.NOT: "not don't dont can't cannot shouldn't won't nicht",
        Role.KEEP: "keep save store remember note memorize retain add accept approve confirm "
        "take behalt behalte behalten merk merke merken speicher speichere speichern "
        "notier notiere",
        Role.DROP: "forget skip drop ignore discard delete remove dismiss reject decline cancel "
        "leave vergiss vergessen lass lösch lösche löschen verwirf ignorier ignoriere",
        Role.ALL: "all everything each every alle alles allen",
        Role.BOTH: "both beide beides beiden",
        Role.ANY: "any anything",
        Role.NONE: "none neither nothing keine keins keines keinen keiner nichts nix weder",
        Role.FIRST: "first former erste ersten erster erstes",
        Role.LAST: "last latter latest letzte letzten letzter letztes",
        Role.REST: "rest other others remaining andere anderen anderes restlichen übrigen",
        Role.ONLY: "only just nur bloss lediglich",
        Role.EXCEPT: "but except excluding besides without aber ausser ohne",
        Role.RANGE: "- – through thru bis",
        Role.BREAK: ", ; . ! /",
        Role.FILLER: "the a an of to for and und & + plus as well also too auch them em those "
        "these this that it its they i i'd i'll me my you your can could should shall "
        "would want so oh ah um then davon thanks thank thx ty danke dankeschön "
        "vielen dank number numbers nr nummer # item items ones thing things fact "
        "facts about der die das den dem des es sie du mir dir ich is are that's it's "
        "really rather lieber doch dann very much need necessary nötig noch gar eher "
        "hell lol haha may single above : course great cool good nice perfect mind "
        "mal zu von für",
    }.items()
    for word in words.split()
}
COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS: Mapping[str, int] = {
    word: number
    for number, words in enumerate(
        (
            "one eins",
            "two second zwei zweite zweiten zweites",
            "three third drei dritte dritten drittes",
            "four fourth vier vierte vierten viertes",
            "five fifth fünf fünfte fünften fünftes",
            *COUNTED[5:],
        ),
        start=1,
    )
    for word in words.split()
}
# Whose words, taken one by one, would mean something else.
IDIOMS = {
    "👍": "yes",
    "👌": "yes",
    "✅": "yes",
    "👎": "no",
    "❌": "no",
    "why not": "yes",
    "of course": "yes",
    "go ahead": "yes",
    "go for it": "yes",
    "go on": "yes",
    "feel free": "yes",
    "think so": "yes",
    "don't think so": "no",
    "sounds good": "yes",
    "sounds great": "yes",
    "like that": "yes",
    "love that": "yes",
    "don't mind": "yes",
    "by all means": "yes",
    "auf jeden fall": "yes",
    "auf keinen fall": "no",
    "not at all": "no",
    "no way": "no",
    "no problem": "?",  # some say yes with it, and some no
    "no idea": "?",
    "apart from": "except",
    "bis auf": "except",
    "do not": "don't",
}
