"""Messages that sound like a change, and leave what is known as it is."""

import pytest

from tests.learning.corrections import amended, pairs

COEXISTING = """
Kim plays the violin | I also play the cello
Kim plays the oud | I now play chess too
Kim plays the oud | I play chess now
Kim has a Kindle | I have a Vespa now
Kim speaks Arabic | I speak French now
Kim likes tea | actually I like coffee
Kim lives in Leeds | my sister moved to York
Kim lives in Leeds | Jamal lives in York now
Kim works at Bosch | my husband works at Siemens now
Kim's sister lives in Oslo | my brother moved to Bergen
Kim's sister is called Hanna | my daughter is called Anna
Kim's phone is an iPhone 12 | my work phone is a Pixel
Kim's work phone is an iPhone 12 | my phone is a Pixel now
Kim uses Firefox at work | I use Safari at home now
Kim drinks coffee in the morning | I drink tea in the evening now
Kim prefers aisle seats on planes | I prefer window seats on trains
Kim's meeting with Karl is at 2pm | the meeting with Bob got moved to 3pm
Kim's history exam is on 23 June 2025 | the chemistry exam got moved to 30 June
Kim's flight to Rome is on Monday | my flight to Oslo is on Tuesday now
Kim has a meeting with Karl on Monday | I have a meeting with Karl on Thursday
Kim goes to the gym on Mondays | I go to the gym on Fridays
Kim swims on Mondays | I swim on Thursdays
Kim was born in Leeds | I live in York now
Kim grew up in Leeds | we moved to York
Kim used to live in Leeds | I live in York now
Kim is a nurse | I'm a father now
Kim is a nurse | I'm a member of the rowing club now
Kim is vegan | I'm lactose intolerant now
Kim is 34 years old | my husband turned 36 yesterday
Kim's daughter Mia is 5 | my son Leo is 7 now
Kim's daughter Mia is 5 | Mia plays football now
Kim's brother Erik lives in Oslo | Erik is 30 now
Stu is Kim's manager | Stu is on holiday now
Stu is Kim's manager | Philippa is my mentor now
Stu is Kim's colleague | Philippa is my colleague now
Ada is Kim's sister | Ngozi is my sister
Marta is the team lead | Ivo is head of support now
Kim's laptop is a ThinkPad | wiped the laptop, it runs Debian now
Kim's laptop runs Ubuntu | my desktop runs Debian now
Kim's car is a Volvo | my wife's car is a Skoda
Kim's car is a Volvo | my bike is a Trek now
Kim drives a Volvo | I sold my bike
Kim has a dog | we got a cat
Kim has a dog called Rex | we got another dog, Bella
Kim has two cats | we have one dog now
Kim has a son | we have a baby girl now
Kim broke the left arm in 2019 | I broke my leg in 2021
Kim ran a marathon in June | I ran a half marathon in October
Kim visited Rome | I visited Oslo
Kim bought a tent | I just bought a sleeping bag
Kim quit smoking | I quit drinking
Kim moved to Norwich in 2008 | I moved to Sheffield in 2017
Kim likes working with Noah | I like working with Imogen now too
Kim hates celery | I can't stand beetroot anymore
Kim is allergic to nuts | I'm allergic to pollen now
Kim takes metformin | I take iron tablets now
Kim takes metformin in the morning | I take a statin at night
Kim is learning Korean | I'm learning to weld now
Kim collects stamps | I collect coins these days
Kim teaches maths | I teach physics
Kim wears glasses | I wear hearing aids now
Kim's favourite film is Paddington 2 | my favourite book is Piranesi
Kim's favourite colour is green | my son's favourite colour is blue now
Kim's birthday is 3 March | my wife's birthday is 9 March
Kim's birthday is 3 March | our anniversary is 6 July
Kim's rent is 900 euros | the electricity went up to 90 euros
Kim pays 300 for the garage | I paid 120 for the helmet
Kim earns 48k | my brother earns 53k now
The standup is at 9 | the retro is at 4 now
The gym closes at 8 on Saturdays | the gym closes at 10 on weekdays
The bins go out on Monday | the recycling goes out on Wednesday
Project Heron uses Python | Project Egret uses Go now
Kim's team uses Jira | my team uses Slack
Kim works at the bakery | I volunteer at the food bank now
Kim works at the bakery | I also do shifts at a cafe now
Kim works at Lidl | I quit smoking
Kim works at Lidl | I left my umbrella at the office
Kim works at Lidl | Jo quit
Theo is Kim's boyfriend | my sister and her husband broke up
Theo is Kim's boyfriend | Theo moved to Oslo
Kim has a boat | we sold the house
Kim has a subscription to Netflix | I cancelled Spotify
Kim plays tennis | I stopped playing football
Kim's mother is in hospital | my dad is out of hospital
Kim needs to renew Kim's passport | I renewed my gym membership
Kim has to send the contract to Mr Brandt | I sent the tax papers to Mr Brandt
Kim's GP is Dr. Lee | my dentist is Dr. Moss now
Kim's GP is Dr. Lee | my daughter's GP is Dr. Moss now
Kim's cat is called Smoky | our neighbour's cat is called Ash now
Kim's cat is called Smoky | my other cat is called Ash
Kim's dentist appointment is on 24 June 2025 | my eye test is on 25 June
Kim's dentist appointment is on 24 June 2025 | I have an eye test on 25 June now
Kim's passport expires in 2029 | my driving licence expires in 2031
Kim's best friend from school is Joanne | my best friend at work is Bev
Kim's office is on the 4th floor | my flat is on the 2nd floor
Kim's office is on the 4th floor | my office is in Bremen
Kim's car is red | my car is fast
Kim's brother is a plumber | my brother is tall
Kim's brother is a plumber | my brother lives in Rome now
Kim's husband works at the post office | my husband plays the tuba now
Kim studies medicine | my brother switched to law
Kim has asthma | I have hay fever now
Kim is scared of heights | I'm scared of spiders now
Kim is going to Crete in July | we're going to Norway in December
Kim signed up for the half marathon in September | now I've also signed up for the triathlon in May
Kim is at a conference in Milan in July | I was at a conference in Vienna last week
Kim loves cake | Actually I love ice cream
Kim met Colin at university | I met Jasmine at work
Tom is coming to dinner on Friday | Priscilla is coming to dinner on Saturday
Kim's son is in year 3 | my daughter is in year 5 now
Kim's uncle Bo has a boat | my uncle Bo lives in Malmö now
Kim lives in Leeds | should I move to York?
Kim lives in Leeds | I might move to York next year
Kim lives in Leeds | if I lived in York now I'd be happier
Kim lives in Leeds | it's Thursday
Kim's standup is on Monday | ok, thanks
Kim's standup is on Monday | see you on Thursday
Kim's standup is on Monday | what a day, I'm tired now
Kim prefers dark mode in the editor | I prefer light mode on my phone
Kim prefers trains over planes | I prefer night trains over day trains
Kim likes jazz | I like metal these days
Kim reads on the train | I sleep on the train now
"""

COEXISTING_DE = """
Kim spielt Handball | ich spiele jetzt auch Klavier
Kim wohnt in Kiel | mein Bruder ist nach Bonn gezogen
Kim mag Tee | ich mag Kaffee
Kims Auto ist ein Opel | das Auto meiner Eltern ist ein Ford
Kim lernt Gitarre | ich lerne gerade Spanisch
Kims Mutter wohnt in Gera | mein Vater wohnt jetzt in Jena
Kim trinkt morgens Kaffee | abends trinke ich Tee
Kims Bruder ist Lehrer | mein Schwager ist jetzt Koch
"""


@pytest.mark.parametrize(("one", "other"), pairs(COEXISTING))
def test_what_merely_looks_alike_stays(one: str, other: str) -> None:
    assert amended(one, other, "en") is None


@pytest.mark.parametrize(("one", "other"), pairs(COEXISTING_DE))
def test_what_merely_looks_alike_stays_in_german(one: str, other: str) -> None:
    assert amended(one, other, "de") is None
