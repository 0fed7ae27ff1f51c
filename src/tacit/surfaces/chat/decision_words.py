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
    FILLER = auto()  # says nothing of its own: "the", "of them"
    THANKS = auto()
    MOOD = auto()  # decides nothing without a yes or no beside it: "nice", "lol"
    # Not looked up: what several tokens come to.
    ITEMS = auto()
    WORD = auto()  # of one item
    VAGUE = auto()  # it could mean several items


ROLES: Mapping[str, Role] = {
    word: role
    for role, words in {
        Role.YES: "yes yep yeah yup yea yah ya ye aye y mhm affirmative sure surely absolutely "
        "definitely certainly totally ofc approved confirmed accepted exactly correct "
        "indeed agreed ja jo jep jup jap joa jawohl klar gerne gern natürlich "
        "sicher genau stimmt richtig einverstanden unbedingt",
        Role.NO: "no nope nah nay naw n negative never wrong incorrect falsch denied rejected "
        "nein nee nö niemals",
        Role.WEAK_YES: "ok okay okey k kk alright fine do please pls plz bitte passt mach",
        Role.NOT: "not don't dont can't cannot shouldn't won't nicht",
        Role.KEEP: "keep save store remember note memorize retain add accept approve confirm "
        "take behalt behalte behalten merk merke merken speicher speichere speichern "
        "notier notiere",
        Role.DROP: "forget skip drop ignore discard delete erase remove dismiss reject decline "
        "cancel leave vergiss vergessen lass lösch lösche löschen verwirf ignorier ignoriere",
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
        Role.FILLER: "the a an of to for and und & + plus also too auch them em those these this "
        "that it its so then davon number numbers nr nummer # item items ones thing "
        "things fact facts der die das den dem des es sie dir really rather lieber doch dann very "
        "much noch gar eher single above : mal zu von für",
        Role.THANKS: "thanks thx ty danke dankeschön",
        Role.MOOD: "great cool good nice perfect super prima toll well oh ah um hm hell lol haha",
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
# Roles of their own in a reply to the question what to forget: there "delete" is a yes and "keep" a
# no.
FORGETTING: Mapping[str, Role] = {
    word: role
    for role, words in {
        Role.KEEP: "forget drop discard delete erase remove vergiss vergessen lösch lösche löschen "
        "verwirf",
        Role.YES: "accept approve confirm",
        Role.DROP: "keep save store remember note memorize retain add take behalt behalte behalten "
        "merk merke merken speicher speichere speichern notier notiere",
    }.items()
    for word in words.split()
}
# What stands for several words that would mean something else, or nothing, one by one.
IDIOMS: Mapping[str, str] = {
    phrase.strip(): meaning
    for meaning, phrases in {
        "yes": "👍; 👌; ✅; why not; of course; please do; go ahead; go for it; feel free; "
        "think so; i think so; sounds good; sounds great; i'd like that; i would like that; "
        "i'd love that; don't mind; i don't mind; by all means; i do; that's right; that is right; "
        "that's correct; yes right; yes it is; yes they are; na klar; auf jeden fall",
        "no": "👎; ❌; don't think so; i don't think so; not at all; no way; no need; never mind; "
        "not necessary; that's wrong; that is wrong; you can't; you may not; better not; "
        "besser nicht; nicht nötig; auf keinen fall",
        "don't": "do not; i don't; i do not; don't want; i don't want; i do not want; "
        "don't want to; i don't want to; i do not want to; i don't want you to; "
        "no need to; i'd rather not; i would rather not",
        "except": "apart from; bis auf",
        "all": "every one of; each one of",
        "any": "one of; 1 of; eins von",  # and which is not said
        "thanks": "thank you; vielen dank; danke schön; danke dir",
        "ok": "all right",
        # Who asks for it politely, and nothing of what is asked for.
        "the": "can you; could you; would you; you can; you could; you should; you may; i want; "
        "i want to; i want you to; i'd like; i'd like to; i'd like you to; i would like; "
        "i would like to; for me; as well; kannst du; könntest du; du kannst; du darfst; ich will; "
        "ich möchte; für mich",
        # Some say yes with it, and some no.
        "?": "no problem; no idea; no need for",
    }.items()
    for phrase in phrases.split(";")
}
_DONE = ("good", "fine", "ok", "okay", "k", "set", "done", "clear", "cool", "well", "klar", "gut")
_THANKS = ("thanks", "thank you", "thx", "ty", "danke")
_WHOM = ("all", "both", "two", "alle", "euch")
# What people say when they are done, thank or doubt, and not as an answer to a list. A reply that
# holds the words of one of these in a row decides nothing, whatever else it says.
NOT_ANSWERS = tuple(
    tuple(phrase.split())
    for phrase in (
        *(f"{every} {how}" for every in ("all", "everything", "alles") for how in _DONE),
        *(f"{thanks} {whom}" for thanks in _THANKS for whom in _WHOM),
        "that's all",
        "that is all",
        "that all",
        "that's it",
        "that's everything",
        "das ist alles",
        "above all",
        "first of all",
        "first things first",
        "yeah right",
        "yea right",
        "yeah yeah",
        "ja ja",
        "jaja",
        "all right then",
        "alright then",
        "nothing to add",
        "nothing much",
        "not much",
        "noch nicht",
        "no one",
        "keep well",
        "one thing",
        "two things",
        "2 things",
        "three things",
        "3 things",
        "a second",
        "one second",
    )
)
