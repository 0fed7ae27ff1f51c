"""A message without a subject of its own corrects nothing, unless it says that it corrects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learning.corrections import amended, pairs

# A bare value, or a pronoun that the message does not explain: it may answer anything.
UNTOLD = """
The standup is at 9 | make that 9:30
Kim takes soy milk in coffee | scratch that, oat milk
Kim moved to Bonn in 2017 | sorry, 2018
Kim takes the red line to work | it's been changed to the blue line
Kim's key is under the blue pot | wait no, the green pot
Kim has a meeting with Joyce at 2pm on 12 June 2025 | it got moved to 4
Kim weighs 71 kilos | down to 68 kilos now
Kim's uncle works in a bank | he's retired
Kim's bro lives in derby | he moved to stoke
Kim's yoga class meets in hall 2 | it's in hall 5 now
The backup server is in frankfurt | it's in dublin now
Ann works nights at the depot | she works days these days
Kim has physio on 17 June 2025 at 14:00 | make it 3
Kim's dress size is 12 | nah size 14
Kim does tuesdays at the shop | no, wednesdays
Kim's cat is called milo | sorry meant mylo
Kim has 3 hens | 4 hens now
Kim weighs 80 kg | down to 76
Kim weighs 80 kg | up to 83 now
Ten people are coming to the dinner | It's twelve coming now
Kim is in Kim's first year | second year now
Kim's aunt works in a pharmacy | she's left
Kim's grandpa is 79 | he turned 80
Kim's insurance is with Axa | moved it to Allianz
Kim's wifi password is on the fridge | it's behind the router now
Kim's mum is in hospital | she's home now
Kim's mum is in hospital | she's out of hospital
Kim's phone is an iphone 12 | upgraded to the 15
Kim's gran lives in a bungalow in Hove | she's gone into a care home
Kim's little brother works at subway | he got sacked
Kim's cat is called Biscuit | he's sadly passed away
The wifi code is bluefish22 | it's redfish23 now
Kim's mate Kev lives in Poole | he's moved to Truro
The board meeting is in the Oak Room | It has been moved to the Elm Room
Kim's appointment with the vet is at 4 | they've moved it to 4:30
Kim's daughter is in Year 5 | She's in Year 6 now
Footy training is at 6 | nah its at 7
Kim takes 10 mg of ramipril | it's 5 mg now
Collect the cake at 3 | 4 i mean
The booking is under Hughes | no, under Hewes
Table for 5 on saturday | table for 6 actually
Kim's username is sam_b | it's samb_ without the underscore
Size 38 in shoes | 39 actually
Kim has a 2 month old | she's 6 months now
Kim's daughter goes by Lizzie | she goes by Beth now
Kim's sister is pregnant | she had a little girl
Kim uses Chrome | using firefox now
Kim starts work at 8 | start at 9 now
Kim heats with oil | switched to a heat pump
Kim's dog is 3 | he's 4 now
Kim's birthday is 4 march | 14 march soz
Xbox name is drago11 | changed it to drago12
Haircut sat 11 | moved it to 12
Kim's waist is 34 | 36 now lol
Kim is 44 | 45 today
Kim's cat is called tiger | no tigger
Kim benchs 100 kg | 105 now
Kim's favourite pub is the swan | nah the crown
The main branch is called trunk | It's called main now.
Kim is in year 12 | in year 13 now
Lecture is in room 2.14 | it's in 3.02 now
Kim has 2 jobs | just the 1 job now
Kim's grandad works in a garage | he's retired
House dinner is at 7 | 7:30 actually
Kim's mam works at the co op | she's been made redundant
Kim's collar size is 15 | no 16
Kim's brother lives in swansea | he's gone to live in bristol
Kim's hamster is called pip | meant pippa
Kim runs 5k in 28 mins | 26 mins now
Kim's dad's birthday is 3 april | no the 13th
Kim is with natwest | switched to starling
Kim's husband commutes to London | He works from home now.
The backup server is in Dublin | It's in Frankfurt now.
Kim's next appointment is at 11 | sorry, at 11:30
Kim's locker is number 117 | not 117, 171
Kim's passport number ends in 42 | sorry, ends in 24
Kim's brother is called Jon | it's John with an h
Kim has two cats | 3 cats now
Kim weighs 92 kg | down to 88
Kim's favourite pub is the Swan | nah the Crown
The group meets in room 7 | it's in room 4 now
"""
# What a thing is like, or that it is gone, is no value of it and no end.
COMMENTS = """
Kim's favourite colour is green | the colour is wrong
Kim's favourite song is Hallelujah | the song is over
Kim's phone is a Pixel 8 | my phone is dead
Kim's phone is a Pixel 8 | my phone is switched off
Kim's wife is called Sarah | my wife is gone for the weekend
Kim's teacher is Ms. Holm | the teacher is nice
Kim's email is kim@example.org | my email is down
Kim's party is on 20 June 2025 | party's off
Kim is going to Crete in June 2025 | Crete's off
Kim is going to benidorm in July 2025 | benidorm is off
Kim is writing the design doc | The design doc is done.
Kim's son goes to Hillside Primary | I meant Anna
Kim's birthday is on the 3rd of July | I meant Tuesday
The deadline is on 20 June 2027 | I meant Tuesday
Kim's flight leaves on 20 June 2025 at 07:00 | I meant Friday at 8 am
"""
KNOWN = """Kim lives in Berlin
Kim's name is Marguerite
Kim's favourite colour is dark green
Kim's birthday is on 14 March
Kim is 17 years old
Kim is a nurse
Kim works at Siemens
Kim's husband is called Tobias
Kim drives a Skoda
Kim's phone is a Pixel 8
The standup is on Monday at 9
Kim's rent is 900 euros
Kim's boss is Priya Raman
Kim is vegan
Kim plays the cello""".splitlines()
FRAMES = """{}
{} please
no, {}
ok {}
yes, {}
{} instead
make it {}
actually {}
let's go with {}
the {} one
not {}
{} works better
sorry, {}
wait, {}
it's {}
that's {}
I'd say {}
change it to {}
nah, {}
scratch that, {}
{} then
rather {}
better {}
{} now
not that, {}
hmm, {}
{}, thanks
call it {}
for {}
in {}""".splitlines()
SAID = """Hamburg
Porto
Max
Anna
Thai
ramen
blue
red
a nurse
Google
Siemens
Tuesday
the 15th
3 May
7:30
10
18
950 euros
an iPhone
a BMW
the guitar
vegetarian
fine
cool
the second one
in the morning""".splitlines()


@pytest.mark.parametrize(("before", "message"), pairs(UNTOLD))
def test_what_names_no_subject_changes_nothing(before: str, message: str) -> None:
    assert amended(before, message, "en") is None


@pytest.mark.parametrize(("before", "message"), pairs(COMMENTS))
def test_a_comment_is_no_value_and_no_end(before: str, message: str) -> None:
    assert amended(before, message, "en") is None


@given(st.sampled_from(KNOWN), st.sampled_from(FRAMES), st.sampled_from(SAID))
def test_no_reply_changes_what_is_known(known: str, frame: str, said: str) -> None:
    assert amended(known, frame.format(said), "en") is None


@pytest.mark.parametrize(
    ("before", "message", "after"),
    [
        ("Kim lives in Lisbon", "no, Porto, not Lisbon", "Kim lives in Porto"),
        ("Kim lives in Lisbon", "I meant Porto", "Kim lives in Porto"),
        ("Kim's cat is called Smoky", "*Smokey", "Kim's cat is called Smokey"),
        ("Kim takes soy milk", "oat milk, not soy milk", "Kim takes oat milk"),
        ("The standup is on Monday", "fri not mon", "The standup is on friday"),
        ("The standup is at 9", "correction: 9:30", "The standup is at 9:30"),
        ("Kim is vegetarian", "I meant pescatarian", "Kim is pescatarian"),
        ("Kim's dog is called Bruno", "it's Balu, not Bruno", "Kim's dog is called Balu"),
    ],
)
def test_words_of_correction_put_one_value_for_another(
    before: str, message: str, after: str
) -> None:
    found = amended(before, message, "en")
    assert found is not None
    assert found.content == after


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("Kim lives in Lisbon", "I meant Anna"),
        ("Kim's sister is called Hanna", "I meant Porto"),
        ("Kim lives in Lisbon", "actually it's great"),
        ("Kim's birthday is on 4 May", "actually it's blue"),
        ("Kim's standup is at 9", "Porto, not Lisbon"),
        ("Kim lives in Lisbon", "somewhere warmer, not Lisbon"),
        ("Kim's favourite colour is blue", "red, not blue please"),
        ("Kim lives in Lisbon", "I want Porto instead of Lisbon"),
        ("Kim's boss is Keith", "the 14th, not Keith"),
    ],
)
def test_a_value_of_another_type_corrects_nothing(before: str, message: str) -> None:
    assert amended(before, message, "en") is None
