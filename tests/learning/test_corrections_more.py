"""More messages that correct or end something known, worded freely."""

import pytest

from tests.learning.corrections import amended, pairs

CORRECTIONS = """
Kim's tutor is Mr Abbot | Mr Abbot quit, so Ms Yeo is my tutor now
Kim's wifi is 50 Mbit | we upgraded the wifi to 250 Mbit
Kim's favourite tea is Earl Grey | my favourite tea is rooibos
Kim lives in Turin | I no longer live in Turin
Kim's train is at 17:05 | my train is at 17:35, they cancelled the earlier one
Kim has a gym membership | cancelled my gym membership
Kim's son is 11 | my son turned 12 on Sunday
Kim takes the tram to work | I walk to work now
Kim is the goalkeeper of the team | I'm the striker of the team now
Kim's contract ends in August | they extended my contract, it ends in December
Kim's neighbour is Mrs Falk | Mrs Falk moved away
Kim uses a Nikon | sold the Nikon and bought a Fuji
Kim's password manager is LastPass | I dropped LastPass, I use Bitwarden
Kim's weekly call is on Wednesdays | weekly call is on Fridays from next week
Kim likes oysters | turns out I hate oysters
Kim's best time is 52 minutes | new best time: 49 minutes
Kim's pharmacy closes at 6 | the pharmacy closes at 8 now
Kim's cousin is called Aleks | typo, Alex
Kim is on holiday until 20 June 2025 | I'm on holiday until the 27th, not the 20th
Kim works three days a week | I work four days a week now
Kim rents from Mr Hale | Mr Hale sold the house, we rent from a company now
Kim's keys are at reception | the keys are with Dan now
Kim goes to St Luke's church | we joined the Methodist church instead of St Luke's
Kim's hobby is pottery | pottery is over for me
Kim works as a barista | I left the coffee world, I'm a paralegal now
Kim's internet provider is Telia | we dumped Telia, now it's Bahnhof
Kim's favourite pizza is margherita | my favourite pizza is quattro formaggi these days
Kim lives on the third floor | we moved up to the fifth floor
Kim's hair is blonde | dyed my hair, it's black now
Kim plays in a band called Rust | the band changed its name to Oxide
Kim's band is called Rust | the band is called Oxide now
Kim has a dentist appointment on Thursday at 3pm | dentist rescheduled me to Friday
Kim's interview is on 18 June 2025 | the interview was brought forward to the 16th
Kim goes running with Pat | Pat and I don't run together anymore
Kim is on antibiotics | finished the antibiotics yesterday
Kim is on a diet | I gave up on the diet
Kim is writing a thesis on bees | handed in the thesis!
Kim's puppy is called Waffles | little change: the puppy is called Pancake
Kim's blood type is A positive | I was wrong about my blood type, it's O positive
Kim's birthday is on 4 May | correction, 5 May
Kim's mother's name is Katrin | it's spelled Catrin
Kim's wedding anniversary is on 12 August | wrong date, our wedding anniversary is 14 August
Kim's manager is Priya | Priya moved to another team, my manager is Tom
Kim reports to Helen | I report to Raj since the reorg
Kim's flatmate is Jasper | Jasper moved out and Noor moved in
Kim's plant is called Fred | RIP Fred, the plant died
Kim has a goldfish | the goldfish died
Kim drinks two coffees a day | I'm down to one coffee a day
Kim is saving for a car | bought the car!
Kim's goal is to run 10 km | I raised my goal to 15 km
Kim's record for 5 km is 24:10 | new record for 5 km: 23:45
Kim has 300 followers | I'm at 450 followers now
Kim is a beginner at chess | I'm not a beginner at chess anymore
Kim uses Windows | finally made the jump from Windows to Linux
Kim's editor is VS Code | moved from VS Code to Neovim
Kim stores photos in Dropbox | my photos are in iCloud now
Kim deploys on Heroku | we migrated off Heroku, we deploy on Fly
Kim's server is in Frankfurt | the server is now hosted in Dublin
The release is planned for June | release slipped to July
The launch is on 3 July | launch date's changed: 10 July
The conference is in Lisbon | the conference has been moved online
The wifi code is on the fridge | the wifi code is behind the router now
The meeting room is Alpha | we're in room Beta instead of Alpha
Dinner is at 7 | dinner's at 8 instead
Class starts at 9 | class starts half an hour later now, 9:30
Kim's sister is pregnant | my sister had the baby
Kim's brother is single | my brother has a girlfriend now
Kim's dad works at the post office | my dad retired
Kim's cousin Leo is at university | Leo graduated
Nadia is dating Omar | Nadia and Omar split up
Nadia drives a Fiat | Nadia got rid of the Fiat
Kim cannot drive | I passed my driving test, I can drive now
Kim does not like sushi | I like sushi now
Kim does not eat fish | I eat fish again
Kim has never been to Japan | I've been to Japan now
Kim prefers emails | please call instead of emailing, I prefer calls
Kim likes long answers | keep answers short from now on, I don't like long answers anymore
Kim is afraid of dogs | I'm not afraid of dogs any more
Kim has migraines | the migraines are gone
Kim takes the pill | I came off the pill
Kim wears size M | I'm a size L now
Kim weighs 80 kg | I weigh 76 kg
Kim sleeps six hours a night | I sleep eight hours a night these days
Kim gets up at 6:30 | I get up at 5:45 now
Kim's car insurance is with Allianz | switched my car insurance to HUK
Kim's electricity costs 80 euros a month | electricity is 95 euros a month now
Kim tutors on Saturdays | I tutor on Sundays instead of Saturdays
Kim volunteers at the shelter | I don't volunteer at the shelter any longer
Kim is the treasurer of the club | I stepped down as treasurer of the club
Kim shares a car with Bo | Bo and I stopped sharing the car
Kim has an iPhone | traded my iPhone in for a Pixel
Kim's piano lesson is on Tuesday | piano's on Thursday from now on
Kim lives in Ghent | I've been living in Antwerp since April
Kim works for Spotify | just signed with Klarna, my last day at Spotify was Friday
Kim's wife is called Rosa | Rosa and I got divorced
Kim's kid goes to Oakfield | we pulled the kid out of Oakfield, she's at St Mary's now
Kim's tablet is an iPad Air | my tablet is a Galaxy Tab now
Kim prefers metric units | use imperial units from now on, I prefer imperial units
Kim's coffee order is a flat white | my coffee order is a cortado these days
Kim likes pineapple on pizza | I've gone off pineapple on pizza
Kim is on the night shift | they put me on the day shift
Kim has three roommates | one moved out, I have two roommates now
Kim's PIN hint is the cat | my PIN hint is the dog, not the cat
Kim's team standup is at 9:15 | standup got shifted to 9:45
Kim's cat Luna is 3 | Luna is 4 now
Kim's mum lives in Graz | mum moved to Linz
Kim's favourite author is Le Guin | my favourite author is Jemisin now
Kim is reading Dune | done with Dune, now on Hyperion
Kim's commute is by train | I drive to work now, no more train
Kim pays 12 euros for the phone plan | my phone plan costs 15 euros now
Kim's phone plan is with Vodafone | moved my phone plan to O2
Kim plays bass in a band | I quit the band
Kim goes to yoga on Mondays | yoga is on Wednesdays now
Kim's car is a diesel Golf | the Golf is gone, it's a Leaf now
Kim is dating Marcus | Marcus dumped me
Kim's therapist is Dr Kohl | I stopped seeing Dr Kohl
Kim is allergic to cats | my cat allergy is gone
Kim's deadline is 30 June | deadline moved up to 25 June
Kim's order number is 4471 | sorry, I meant 4417
Kim's hotel is the Astoria | we switched hotels, we're at the Plaza
Kim stays at the Astoria | we're staying at the Plaza instead
Kim's surname is Novak | I got married, my surname is Marin
Kim's running shoes are Brooks | my running shoes are Hoka now
Kim drinks oat milk | I've switched from oat milk to soy milk
Kim's daughter is learning the violin | my daughter gave up the violin
Kim's son plays for Ajax | my son plays for Feyenoord now
Kim's goal weight is 70 kilos | I changed my goal weight to 68 kilos
The office is closed on Fridays | the office is closed on Mondays now
The office is on Baker Street | the office moved to King Street
The project uses React | we ported the project to Svelte
The staging server runs Ubuntu 20 | the staging server runs Ubuntu 24 now
The budget is 5000 euros | the budget was cut to 4000 euros
The book club meets on the first Monday | the book club meets on the second Tuesday now
The bins are collected on Mondays | bins are collected on Thursdays now
Leah is the project lead | Leah stepped down, Amir is the project lead
Leah lives in Bath | Leah moved to Bristol in March
Leah has a dog | Leah's dog died
Leah is vegetarian | Leah eats meat again
Leah works at Monzo | Leah got a new job at Wise
Leah's birthday is 3 June | I got it wrong, Leah's birthday is 4 June
Kim's sister is engaged | my sister called off the wedding
Kim's sister is engaged | my sister got married
Kim is unemployed | I found a job
Kim is looking for a new flatmate | found a new flatmate
Kim wants to buy a bike | I bought a bike
Kim has a broken arm | my arm healed
Kim has a headache | the headache is gone
Kim has a cold | I'm over my cold
Kim has an appointment at the bank on Tuesday | bank appointment cancelled
Kim is coming to dinner on Friday | I can't come to dinner on Friday after all
Kim is bringing salad on Friday | I'm bringing bread instead of salad
"""

CORRECTIONS_DE = """
Kim wohnt mit Tom zusammen | Tom ist ausgezogen
Kims Handynummer ist 0151 5550123 | meine neue Handynummer ist 0151 5550987
Kim raucht | ich rauche nicht mehr
Kims Kurs ist montags | der Kurs ist jetzt dienstags
Kim ist Vegetarier | ich bin kein Vegetarier mehr
Kims Sohn geht in die dritte Klasse | mein Sohn geht jetzt in die vierte Klasse
Kim verdient 3000 Euro | ich verdiene jetzt 3200 Euro
"""


@pytest.mark.parametrize(("before", "after"), pairs(CORRECTIONS))
def test_a_message_corrects_or_ends_what_is_known(before: str, after: str) -> None:
    assert amended(before, after, "en") is not None


@pytest.mark.parametrize(("before", "after"), pairs(CORRECTIONS_DE))
def test_a_german_message_corrects_or_ends_what_is_known(before: str, after: str) -> None:
    assert amended(before, after, "de") is not None
