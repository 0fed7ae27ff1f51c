"""Corrections that say the same in another construction, and what only sounds like them."""

import pytest

from tacit.learning.corrections.supersession import find_superseded, make_known_fact
from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tests.learning.corrections import NOW, pairs

REPLACED = """
The recital is on the 12th of July | I misread the flyer, the recital is the 21st
Our seminar room is B204 | they swapped rooms on us, our room is C117
My court hearing is on 3 July | the hearing was adjourned to 21 July
Our choir has 24 singers | the choir is down to 19 singers
The chess club has 31 members | we're at 34 members in the chess club
We keep four hens | a fox got in. two hens left
The visa interview is at the consulate in Chennai | the visa interview will be in Hyderabad
We have a cleaner on Fridays | the cleaner comes on Wednesdays
My car insurance is with Allianz | Allianz wanted 900 so I took out a policy with AXA
I drive a Golf | the Golf failed its test, picked up a Kia on Friday
My accountant is Mrs Hale | Mrs Hale has stopped taking clients, I've gone with a Mr Finch
I use Spotify | Spotify got too expensive, I'm on Tidal
Our band rehearses in my garage | neighbours complained so we rehearse at the church hall
I drive to work | the car's been sold, I walk to work
My birthday party is at the bowling alley | the alley flooded, the party is at my house
I have a dog called Bosse | we had to put Bosse to sleep on Tuesday
I write my notes in Evernote | exported everything out of Evernote
My laptop is a ThinkPad T480 | the T480 went to my nephew
My colleague Ines is on parental leave | Ines is back from parental leave
I'm applying for the Dublin job | I've decided against the Dublin job
My son has a nut allergy | he's outgrown the nut allergy
My brother Tom is vegetarian | Tom went fully vegan after Easter
My commute is the 7:12 train to Waterloo | they scrapped the 7:12, I'm on the 6:58
I don't have any pets | We have a rabbit now
My surname is Oakes | you may call me Mrs Philippa Brandt
The car inspection costs 95 euros | the garage says 129 for the inspection
My boss is a guy called Trevor | Trevor retired on Friday and Beatriz took over as my boss
Our Eid lunch is at my aunt's | Change of plan: Eid lunch is at ours
My PhD is about bee navigation | my topic was changed, I'm writing the PhD on wasp nests
Grandpa is in Ward 6 | They've got grandpa on Ward 11 now
Omas Geburtstagsfeier ist am 5. Juli | nee, Omas Feier ist am 6. Juli, nicht am 5.
Training ist immer montags | Der Trainer hat das Training auf mittwochs gelegt
Das Fitnessstudio kostet uns 40 Euro im Monat | ab Juli zahlen wir 48 für das Fitnessstudio
Meine Schwester Anneke ist mit Malte zusammen | Anneke hat sich von Malte getrennt
Meine Chefin ist Frau Berger | Frau Berger ist in Rente, Herr Yilmaz leitet uns jetzt
Mein Zahnarzttermin ist am 17. Juni um 9 Uhr | der Zahnarzt ist erst am 26. Juni um 14 Uhr
"""

KEPT = """
My thesis is due on 30 June | the thesis defence is 15 August
The recital is on 12 July | Mia's recital is the 21st
The office is in Leeds | the office is at Park Row
The office is in Leeds | the warehouse is in Bradford
The gym opens at 6 | the gym closes at 10
We have two cats | there are two dogs outside
We have two cats | there are 19 cats in the shelter
My team has six people | there are eight people on my course
We have a cleaner on Fridays | a cleaner comes to my mum's on Wednesdays
My boss is Henrik | Henrik called so I went to Leeds
I have a Golf | I washed the Golf and bought a Bosch drill
I work at Bosch | Bosch hired ten people and we had a party at Nando's
I live in Bonn | Bonn was flooded so I drove to Cologne for the day
My therapist is Ms Adeyemi | Ms Adeyemi closed her window and Mr Lund is my landlord
My daughter is Emma | I put Emma to sleep
I have a cat named Pelle | my neighbour had to put Rex to sleep
My camera is a Canon R6 | the R6 went to the shop for repair
My colleague Ines is on parental leave | Ines is back from lunch
I'm applying for the Dublin job | my brother turned down the Dublin job
Hugo has a nut allergy | Mia has outgrown her milk allergy
I'm vegetarian | my flatmate went fully vegan
I don't have any pets | my neighbour got a dog
The car inspection costs 95 euros | the garage says 129 for the new tyres
My phone number is 07700 900123 | my sister got a new phone, call her on 07700 900456
I take two sugars in my tea | I've cut sugar out of my coffee
I play trombone in a jazz band | I play second trombone in the town band
I moved to Norwich in 2008 | I moved to Sheffield in 2017
Die Abschlussfeier ist am 5. Juli | Die Weihnachtsfeier ist am 6. Dezember
Omas Geburtstagsfeier ist am 5. Juli | Opas Feier ist am 6. Juli
Mein Chef ist Herr Berger | Herr Berger hat angerufen, ich fahre nach Köln
Training ist immer montags | Der Trainer hat das Spiel auf mittwochs gelegt
"""


def _replaced(before: str, after: str) -> list[str]:
    first, second = load_locale(guess_locale(before)), load_locale(guess_locale(after))
    known = [make_known_fact(one, NOW) for one in extract_by_rules(before, "Kim", NOW, first)]
    assert known, "the first message says something that is kept"
    said = extract_by_rules(after, "Kim", NOW, second)
    found = find_superseded(after, said, "Kim", known, second, said_at=NOW)
    return [one.old.content for one in found]


@pytest.mark.parametrize(("before", "after"), pairs(REPLACED))
def test_the_same_in_another_construction_is_replaced(before: str, after: str) -> None:
    assert _replaced(before, after)


@pytest.mark.parametrize(("before", "after"), pairs(KEPT))
def test_what_is_about_something_else_stays(before: str, after: str) -> None:
    assert not _replaced(before, after)
