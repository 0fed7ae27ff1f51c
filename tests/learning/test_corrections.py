"""A message read in the light of what is known: what it corrects, and what it ends."""

import pytest

from tests.learning.corrections import amended, pairs

CORRECTIONS = """
Kim's standup is on Monday | no wait, it's Thursday
Kim's sister is called Hanna | I meant Anna, not Hanna
Kim's flight leaves on Monday | Tuesday, not Monday
Kim's laptop runs Ubuntu | wiped the laptop, it runs Debian now
Kim drives a Volvo | the Volvo is gone, I drive a Skoda now
Stu is Kim's manager | Stu left, Philippa is my manager now
Kim's meeting with Karl is at 2pm | the meeting got moved to 3pm
Kim has a car | I sold the car
Theo is Kim's boyfriend | we broke up
Kim works at Lidl | I quit
Kim's rent is 900 euros | the rent went up to 950
Kim's shoe size is 41 | oops, I meant 42
Kim has two cats | we've got three cats now
Kim's dentist is Dr. Moss | Dr. Moss retired, I go to Dr. Lee now
Kim's gym is PureFit | I switched gyms, I'm at Ironworks now
Kim is on the payments team | I've moved to the fraud team
Kim is a junior editor | I got promoted to senior editor
Kim uses Chrome | I use Firefox these days
Kim pays 30 euros for the gym | the gym costs 35 euros now
Kim's Wi-Fi is called Nest | we renamed the Wi-Fi, it's called Burrow now
Kim's train leaves at 7:15 | they changed the timetable, the train leaves at 7:25 now
Kim wakes up at 6 | these days I wake up at 7
Kim drinks coffee with milk | I drink my coffee black now
Kim's favourite colour is green | my favourite colour is teal
Kim's desk is on the second floor | they moved my desk to the fourth floor
Kim lives in Leeds | we relocated to York last month
Kim lives in a flat with Jo | Jo moved out
Kim has a subscription to Netflix | I cancelled Netflix
Kim is training for a marathon | I've given up on the marathon
Kim plays the cello | I don't play the cello anymore
Kim plays the cello | I swapped the cello for a viola
Kim smokes | I quit smoking in May
Kim is vegetarian | I eat meat again
Kim hates olives | I actually like olives now
Kim likes horror films | I can't stand horror films anymore
Kim does not drink alcohol | I drink alcohol again
Kim's daughter Mia is 5 | Mia just turned 6
Kim is 34 years old | I turned 35 yesterday
Kim's landlord is Mr Penn | we have a new landlord, Ms Achebe
Kim's cleaner comes on Tuesdays | the cleaner comes on Fridays now
Kim's exam is on 23 June 2025 | my exam was pushed back to 30 June
Kim's deadline is Friday | the deadline got extended to Monday
Kim's phone is an iPhone 12 | got a new phone, it's a Fairphone
Kim's phone is an iPhone 12 | I replaced my iPhone with a Pixel
Kim banks with Halden | I closed my Halden account, I'm with Northrow now
Kim's boss is Keith | Keith got fired, so now it's Lorraine
Kim's email is kim@old.example | my new email is kim@new.example
Kim studies chemistry | I changed my major to economics
Kim's commute takes 40 minutes | my commute is down to 25 minutes
Kim earns 48k | I got a raise, I earn 53k
Kim commutes by bus | I cycle to work now instead of taking the bus
Kim is learning Spanish | I dropped Spanish
Kim is reading Middlemarch | I finished Middlemarch, I'm reading Emma now
Kim needs to renew Kim's passport | I renewed my passport
Kim has to call the plumber | I called the plumber
Kim has an appointment with the dentist on 24 June 2025 | the dentist appointment is cancelled
Kim is engaged to Lou | Lou and I got married on Saturday
Kim is single | I'm seeing someone, her name is Ada
Kim's team has nine people | the team has grown to twelve people
Kim's office is in Hamburg | our office moved to Bremen
Kim's company is called Brise | the company was renamed, it's called Nordwind now
Kim takes 50 mg of sertraline | my doctor upped the sertraline to 75 mg
Kim goes to bed at 11 | I go to bed at 10 now
Kim runs 20 km a week | I run 30 km a week now
Kim's car is red | I had the car painted, it's blue now
Kim wears glasses | I had my eyes lasered, I don't wear glasses any more
Kim's cat is called Smoky | *Smokey
Kim's wedding is in May | the wedding is postponed to September
Kim's favourite band is Wet Leg | my favourite band changed, it's Mogwai now
Kim's best friend is Joanne | Joanne and I fell out, my best friend is Bev now
Kim works nights | I'm on days now, no more nights
Kim is allergic to nuts | turns out I'm not allergic to nuts
The spare key is with Ada | the spare key is with Tom now
The team lunch is on Thursday | team lunch is Friday instead
The retro is at 4 | we pushed the retro to 5
The password hint is Rex | the password hint is now Bella
Marta is the team lead | Ivo took over from Marta
Marta is the team lead | Ivo is the team lead now
Kim's brother Erik lives in Oslo | Erik moved to Bergen
Kim's parents live in Rome | my parents moved to Milan in spring
Jamal works at Bosch | Jamal left Bosch
Jamal works at Bosch | Jamal is with Siemens now
Kim's dog Rex is 4 | Rex is 5 now
Kim owns a boat | the boat is sold
Kim prefers window seats | I prefer aisle seats now
Kim is a member of the rowing club | I left the rowing club
Kim teaches year 4 | I teach year 5 this year
Kim's physio is on Tuesdays | physio moved to Wednesdays
Kim's favourite restaurant is Lupo | Lupo closed down, my favourite restaurant is Marea now
Kim lives alone | I live with my girlfriend now
Kim works from home on Fridays | I work from home on Mondays now
Kim is looking for a flat | we found a flat
"""

CORRECTIONS_DE = """
Kim wohnt in Mainz | wir sind nach Worms gezogen
Kims Training ist um 18 Uhr | das Training ist ab sofort um 19 Uhr
Kims Chefin heißt Frau Lorenz | meine neue Chefin heißt Frau Aksoy
Kim fährt einen Golf | den Golf hab ich verkauft
Kim arbeitet bei Bosch | ich arbeite nicht mehr bei Bosch, sondern bei ZF
Kim trinkt Kaffee | ich trinke jetzt Tee statt Kaffee
Kim mag Rosenkohl | ich mag keinen Rosenkohl
Kims Katze heißt Minka | ich meinte Minki, nicht Minka
Kim spielt Tennis | ich spiele kein Tennis mehr
"""


@pytest.mark.parametrize(("before", "after"), pairs(CORRECTIONS))
def test_a_message_corrects_or_ends_what_is_known(before: str, after: str) -> None:
    assert amended(before, after, "en") is not None


@pytest.mark.parametrize(("before", "after"), pairs(CORRECTIONS_DE))
def test_a_german_message_corrects_or_ends_what_is_known(before: str, after: str) -> None:
    assert amended(before, after, "de") is not None
