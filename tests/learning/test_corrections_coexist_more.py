"""More messages that sound like a change of something known, and are about something else."""

import pytest

from tests.learning.corrections import amended, pairs

COEXISTING = """
Kim's tutor is Mr Abbot | my piano teacher is Ms Yeo now
Kim's wifi is 50 Mbit | my phone plan is 20 GB now
Kim shops at Lidl | I work at Aldi now
Kim's favourite tea is Earl Grey | my favourite cake is carrot cake now
Kim lives in Turin | my best friend no longer lives in Milan
Kim's train is at 17:05 | my bus is at 17:35 now
Kim has a gym membership | I cancelled my newspaper subscription
Kim's son is 11 | my daughter turned 12 on Sunday
Kim takes the tram to work | I take the train to my parents now
Kim's contract ends in August | my lease ends in December now
Kim's neighbour is Mrs Falk | Mrs Falk got a dog
Kim uses a Nikon | I also bought a Fuji
Kim's weekly call is on Wednesdays | the board call is on Fridays now
Kim likes oysters | I hate mussels now
Kim's daughter studies biology | my niece studies physics now
Kim's pharmacy closes at 6 | the bakery closes at 8 now
Kim works three days a week | I swim four days a week now
Kim owes Pat 40 euros | Jo owes me 30 euros now
Kim's keys are at reception | my passport is with Dan now
Kim's hobby is pottery | my sister's hobby is knitting now
Kim is allergic to shellfish | I'm allergic to penicillin
Kim studied in Kyiv | I study in Vienna now
Kim has a sister in Oslo | my brother lives in Bergen now
Kim reads the Guardian | I read novels these days
Kim is a teacher | I'm a homeowner now
Kim likes her tea strong | I like my coffee weak now
The team meeting is on Monday | the board meeting got moved to Tuesday
Kim bought a bike in May | I bought a car in June
Kim is training for a marathon | my husband stopped training for the triathlon
Kim has a daughter at Oxford | my son is at Leeds now
Kim works as a barista | I'm an uncle now
Kim works at Lidl | I'm at the airport now
Kim works at Lidl | my shift starts at 9 now
Kim lives in Leeds | I'm in York this week
Kim lives in Leeds | we bought a cabin in Wales
Kim lives in Leeds | our office moved to York
Kim's daughter goes to Elmwood nursery | my son started at Brookside school last week
Kim's favourite pizza is margherita | my favourite pasta is carbonara these days
Kim's hair is blonde | dyed my jacket, it's black now
Kim's bus is the 14 | the 22 doesn't stop here anymore
Kim sees a therapist on Wednesdays | I see my physio on Fridays now
Kim has a dentist appointment on Thursday at 3pm | I have a call with Bob on Friday now
Kim's interview with Ericsson is on Thursday | my interview with Spotify got moved to Friday
Kim goes running with Pat | I go swimming with Lou now
Kim is on antibiotics | I'm on a diet now
Kim has a cat called Minka | our new dog is called Rex
Kim's puppy is called Waffles | my sister's puppy is called Pancake
Kim's manager is Priya | Tom is the CEO now
Kim's manager is Priya | my wife's manager is Tom now
Kim reports to Helen | Raj reports to me since the reorg
Kim's flatmate is Jasper | my landlord is Noor now
Kim has a goldfish | the plant died
Kim drinks two coffees a day | I walk two dogs a day now
Kim has 300 followers | I have 40 subscribers now
Kim speaks Italian | I've started learning Polish
Kim supports Arsenal | my son supports Spurs now
Kim uses Windows at work | I use Linux at home these days
Kim stores photos in Dropbox | I store videos in iCloud now
The team uses Slack | the design team uses Figma now
The team uses Python | the team uses Go for the backend now too
The release is planned for June | the party is planned for July
The conference is in Lisbon | the workshop has been moved to Porto
Dinner is at 7 | lunch is at 12 now
Class starts at 9 | school ends at 3 now
Sam is bringing the cake | Lou is bringing the drinks now
Kim's sister is pregnant | my cousin is pregnant now
Kim's brother is single | my brother is a doctor now
Kim's dad works at the post office | my mum retired
Kim's cousin Leo is at university | Mia graduated
Nadia is dating Omar | Nadia lives in Cork now
Nadia lives in Cork | Nadia works in Galway now
Nadia drives a Fiat | Omar drives a Seat now
Kim cannot drive | I can swim now
Kim does not like sushi | I like sashimi now
Kim does not eat fish | I eat tofu now
Kim wants reminders at 9am | I want my news at 7am
Kim prefers emails | I prefer tea
Kim is afraid of dogs | I'm not afraid of heights any more
Kim has migraines | my cold is gone
Kim wears size M | I wear size 43 shoes
Kim weighs 80 kg | my dog weighs 30 kg
Kim gets up at 6:30 | I go to bed at 10 now
Kim gets up at 6:30 | I get up at 9 on Sundays
Kim's car insurance is with Allianz | my home insurance is with HUK now
Kim's electricity costs 80 euros a month | the gym is 35 euros a month now
Kim tutors on Saturdays | I go climbing on Sundays now
Kim volunteers at the shelter | I volunteer at the library these days
Kim is the treasurer of the club | I'm the secretary of the parents' board now
Kim has an iPhone | I got an iPad too
Kim has an iPhone | I bought a Pixel for my mum
Kim likes hiking | I love climbing now
Kim loves Rome | I was in Oslo last week
Kim met Lou in 2019 | I met Ada last week
Kim is reading Emma | I watched Emma yesterday
Kim's name day is 15 October | my birthday is 30 November
Kim has a meeting at 3pm on 12 June 2025 | I have a meeting at 4pm on 13 June
Kim went to Crete in 2023 | we went to Norway in 2024
Kim can play the drums | I can play the piano now
Kim wants to learn sailing | I want to learn Greek now
Kim is good at maths | I'm good at cooking now
Kim cooks on Fridays | I bake on Fridays now
Kim pays Bob 20 euros | I paid Ann 30 euros
Kim's aunt lives in Rome | my aunt is 70 now
Kim keeps bees | I keep chickens now
Kim's dog is afraid of fireworks | my dog is 5 now
The spare key is with Ada | the garage key is with Tom now
The spare key is with Ada | Ada moved to Rome
Ada is Kim's best friend | Ada got a new car
Ada has a peanut allergy | Ada has a dog now
Kim is left-handed | I'm vegan now
Kim is married to Lou | Lou is a teacher now
Kim is married to Lou | we got a dog
Kim has two brothers | I have three nephews now
Kim's first language is Polish | my second language is English
Kim's team is remote on Fridays | my team has nine people now
Kim's piano lesson is on Tuesday | my guitar lesson is on Thursday from now on
Kim lives in Ghent | my parents have been living in Antwerp since April
Kim lives in Ghent | I'm studying in Antwerp now
Kim works for Spotify | my sister just signed with Klarna
Kim works for Spotify | I'm writing a book now
Kim's wife is called Rosa | Rosa got a new car
Kim's boss is Alec | Alec is 40 now
Kim's boss is Alec | Ingrid is the new intern
Kim's kid goes to Oakfield | the kid is 7 now
Kim's tablet is an iPad Air | my tablet is broken now
Kim prefers metric units | I prefer dark mode now
Kim likes pineapple on pizza | I like anchovies on pizza now too
Kim is on the night shift | my husband is on the day shift now
Kim has three roommates | I have two bikes now
Kim's team standup is at 9:15 | the sales standup got moved to 9:45
Kim's cat Luna is 3 | our dog Rex is 4 now
Kim's mum lives in Graz | my aunt moved to Linz
Kim's favourite author is Le Guin | my favourite painter is Munch now
Kim is reading Dune | I'm watching Hyperion now
Kim pays 12 euros for the phone plan | I pay 15 euros for Netflix now
Kim plays bass in a band | I sing in a choir now
Kim goes to yoga on Mondays | I go to pilates on Wednesdays now
Kim's car is a diesel Golf | my parents' car is a Leaf now
Kim is dating Marcus | Marcus got promoted
Kim is allergic to cats | my sister's cat is gone
Kim's deadline is 30 June | the party moved to 25 June
Kim's flight lands at 18:40 | Jo's flight lands at 19:55 now
Kim's hotel in Rome is the Astoria | our hotel in Milan is the Plaza
Kim's running shoes are Brooks | my hiking boots are Hoka now
Kim drinks oat milk | I drink green tea now as well
Kim's daughter is learning the violin | my son gave up the piano
Kim's son plays for Ajax | my nephew plays for Feyenoord now
The office is closed on Fridays | the shop is closed on Mondays now
The office is on Baker Street | the warehouse moved to King Street
The project uses React | the other project uses Svelte now
The staging server runs Ubuntu 20 | the production server runs Ubuntu 24 now
The budget is 5000 euros | the deposit was raised to 400 euros
The choir rehearses at St Paul's | the orchestra rehearses at the town hall now
Leah is the project lead | Amir is the tech lead now
Leah lives in Bath | Leah's sister moved to Bristol in March
Leah has a dog | Amir's dog died
Leah is vegetarian | Amir eats meat again
Leah works at Monzo | Leah got a new haircut
Leah's birthday is 3 June | Leah's party is on 4 June
Kim's sister is engaged | my cousin called off the wedding
Kim has a broken arm | my dad broke his leg
Kim has an appointment at the bank on Tuesday | dentist appointment cancelled
Kim is bringing salad on Friday | Jo is bringing bread now
Kim loves the mountains | we're at the sea now
Kim drinks coffee | I need a coffee now
Kim is tired of meetings | I have three meetings now
Kim's dog is called Rex | I'm walking Rex now
Kim has a twin brother | my brother is a doctor now
Kim was in Rome in May | I'm in Oslo now
Kim once met Bono | I met Sting last week
Kim's shift starts at 8 | my course starts at 10 now
Kim's shift starts at 8 | my shift ends at 5 now
Kim's shift starts at 8 | my shift is with Bob now
Kim's phone number is 555 0142 | my work number is 555 0177
Kim's bike is blue | my bike is at the shop now
Kim's flat has two bedrooms | my flat is on the third floor
Kim's flat has two bedrooms | my office has two windows now
Kim's favourite season is autumn | autumn starts now
Kim wants answers in English | I'm learning English now
Kim has been to Japan | I've been to Korea now
Kim is afraid of flying | I'm flying to Rome now
Kim lives with Jo | Jo works nights now
Kim lives with Jo | I had lunch with Ann, not Jo
Kim studies law | I'm not studying today
Kim smokes | no smoking here anymore
Kim's new job starts on 1 September | my course starts on 8 September
"""

COEXISTING_DE = """
Kim wohnt in Kiel | ich arbeite jetzt in Lübeck
Kim hat einen Hund | wir haben jetzt eine Katze
Kim spielt Gitarre | ich spiele jetzt Fußball
Kims Sohn ist 7 | meine Tochter ist jetzt 9
Kim mag Koriander | ich mag keine Rosinen mehr
"""


@pytest.mark.parametrize(("one", "other"), pairs(COEXISTING))
def test_what_merely_looks_alike_stays(one: str, other: str) -> None:
    assert amended(one, other, "en") is None


@pytest.mark.parametrize(("one", "other"), pairs(COEXISTING_DE))
def test_what_merely_looks_alike_stays_in_german(one: str, other: str) -> None:
    assert amended(one, other, "de") is None
