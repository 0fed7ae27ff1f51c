"""Messages about another person, thing, time or place than what is known."""

import pytest

from tests.learning.corrections import amended, pairs

PAIRS = """
Kim's gran works in a bakery | she's 81
Kim's gran works in a bakery | she's retiring next year
Kim's sis lives in leeds | she's got two kids
Kim's sis lives in leeds | she works in bradford
Kim's sis lives in leeds | my brother moved to bradford
Kim's tutor group meets in room 7 | it's at 10
The staging cluster is in eu-west-1 | it's called alpha
The staging cluster is in eu-west-1 | it's slow now
Lou works days at the hospital | she lives in peckham these days
Lou works days at the hospital | she hates it now
Kim's dad drives a volvo | he's retired
Kim's cat is called Miso | she's pregnant
Kim's car is a Polo | it's red
Kim's car is a Polo | it's in the garage now
Kim lives in Leeds | it's raining now
Kim works at Siemens | they moved the canteen to the third floor
Kim's boss is Dean | he lives in Hull now
Kim's wife works as a nurse | She's in Spain this week
Kim's brother lives in Canada | He's getting married now
Kim has a dog named Bruno | he's 4 now
The party is on 14 June 2025 | it's at Tom's now
Kim's rent is 800 | it's due on the 1st
Kim's son plays football | he's in year 4 now
Kim has dentist on 13 June 2025 at 15:00 | see you at 4
Kim has dentist on 13 June 2025 at 15:00 | need 4 eggs
Kim's shoe size is 11 | 10 people are coming
Kim weighs 92 kg | ran 10 km today
Kim's dog is called rex | max is my son
Kim's dog is called rex | meant to call mum
Kim is paying the electric bill to Priya | sorry for the late reply
Kim does mondays on the rota | no, not yet
Kim does mondays on the rota | no idea about tuesdays
Kim has house meeting on 12 June 2025 at 07:00 | gym at 8
Kim's daughter is 7 | my son is 8
Kim lives in York | Anna lives in Leeds
Kim has a cat | got another cat
Kim has a cat | I've got a dog too
Kim's sister is Anna | my other sister is Jo
Kim plays tennis | I also play squash now
Kim speaks French | learning Spanish now
Kim has a flat in Hull | we bought a second flat in Leeds
Kim works at Lidl | I also work at a bar on Fridays
Kim drives a Golf | my wife drives a Fiat now
Kim likes tea | I like coffee now too
Kim drinks coffee in the morning | I drink tea at night
Kim has 2 cats | got 3 dogs
Kim has two brothers | I have one sister
Kim has two cars | we've got two bikes now
Kim's son Tom is 4 | my daughter Ida is 6
Kim likes olives | I love capers now
Kim is allergic to nuts | I'm allergic to shellfish as well
Kim goes to the gym on Mondays | I go swimming on Thursdays
Kim's favourite colour is green | my favourite food is pizza
Kim's favourite film is Alien | my favourite book is Dune now
Kim uses Slack at work | I use Discord at home
Kim has Netflix | got Disney plus now
Kim subscribes to The Economist | I subscribe to Wired as well
Kasper owns the Terraform modules | Aisha owns the API
Dmitri is on kitchen in the week of 9 June 2025 | Lou's on bathroom this week
Reg chairs the gardening club | Joan chairs the book club
Kim is on the PTA | Joan is on the PTA
Kim's neighbour is Mrs Dunlop | my neighbour on the other side is Fraser
Kim studied law | I study medicine now
Kim smokes | quit my job in may
Kim smokes | stopped drinking
Kim has a boat | sold the car
Kim's dog is called Rex | my cat Max died
Kim has two budgies | the hamster died
Kim has spotify premium | cancelled netflix
Kim goes to yoga | gave up sugar
Kim's gf is called steph | ann and tom broke up
Kim works at Greggs | my brother quit Lidl
Kim works at greggs | left the party early
Kim lives in halls | Tom moved out of halls
Kim's bus pass is valid until August 2025 | my passport has expired
Kim's phone is a Pixel | my laptop got nicked
Kim rides a bike to uni | my sister's bike got stolen
Kim has a cleaner on fridays | no milk anymore
Kim is working on the migration RFC | the billing RFC is finished
Kim's bus pass expires in August 2025 | My gym pass has expired
Bethan is at Cardiff | Bethan has finished her exams
Bethan is at Cardiff | Tom has finished at Cardiff
Kim works at Fintura | Friday was my day off
Kim plays tennis on Sundays | I finished my dinner
Kim reads a lot | I finished my book
Kim has a dog named Bruno | my neighbour's dog died last week
Kim loves the beach | I left the beach at 5
Kim is a member of the choir | I left choir early today
Pickle is Kim's hamster | Bruno died on Sunday
Kim's husband Gareth works from home | Gareth has sold the bike
Gareth drives a van | I sold the van books
Kim's mum has a garden | she gave up the piano
Kim drives a Zafira | the Zafira needs new tyres
Kim drives a Zafira | the Zafira went to the garage
The washing machine is new | The dishwasher got fixed
Kim has one child | my sister had a second child
Kim has one child | had a second coffee
Kim is 29 | my brother turned 30 yesterday
Kim's daughter is 7 | my son turned 8
Kim's rent is £510 | the deposit is £540
Rent is £510 each | electric went up to £60
CI takes 22 minutes | deploys take 13 minutes
Kim's team has six engineers | our team has two designers
Kim's team has six engineers | we need seven chairs
Kim weighs 92 kg | my wife is down to 60
Kim has borrowed 3 library books | I need 5 library cards
There are four people in the flat | three of us are going to the gig
Kim takes two sugars in Kim's tea | I take one sugar in my coffee
Kim runs 5 km on Mondays | I run 10 km on Sundays
Kim's number is 07700 900112 | mum's number is 07700 900845
Kim is in Kim's second year | Tom's in his third year now
Kim is in Kim's second year | that's my third coffee now
Kim's flat is on the 2nd floor | the gym is on the 3rd floor
Twelve children are coming to the party | fourteen adults are coming
The train leaves at 8 | the bus leaves at 9 now
Kim gets up at 6 | I go to bed at 10 now
The standup is at 9:45 | the retro is at 10:15
The exam is on 13 June 2025 | the other exam is on Monday
Stats exam is on 13 June 2025 at 09:00 | biology exam got moved to monday
Plumber is coming on 17 June 2025 | electrician's coming on the 19th
Plumber is coming on 17 June 2025 | plumber can't find the tap
The repo is called billing-gateway | the bot has been renamed to Max
Kim's group is called Flat 3B | renamed the dog to Bo
Kim's boss is dean | new colleague is carol
Kim's tech lead is Ingrid | my tech writer is Bartek
Kim's doctor is Dr Pryce | my dentist is Dr Lim
Kim's doctor is Dr Pryce | Dr Lim is my mum's doctor
The wifi box is behind the shoe rack | I moved the shoe rack to the hall
Spare key is in the teapot | car key is with Doris
The spare key is in the teapot | the teapot is on the shelf
Parking permit is on Dmitri's car | the dog is on my car
The team meeting is in the Curie room | the team lunch is in the park
Kim is with BT for broadband | we're with Octopus for gas
Netflix is on Lou's account | Spotify is on my account
Kim banks with barclays | my wife switched to monzo
Kim uses VS Code | my team switched to Zed
Kim banks with Barclays | I switched to oat milk
Kim works at Siemens | I worked at Bosch before
Kim lived in Hull as a kid | I live in York now
Kim lives in England | I live in Leeds
Kim's parents live in Bath | My parents-in-law live in Frome now
Kim is vegan | my brother gave up the vegan thing
Kim hates the new sofa | I love the new rug
Kim likes TypeScript | I love the new TypeScript logo
Rafe cannot swim | Ottilie can swim
Rafe cannot swim | Rafe can ride a bike
Kim does not like jazz | I've grown fond of rock
Kim is afraid of flying | I'm not afraid of spiders
Kim prefers tea to coffee | I prefer trains to planes now
Rafe does judo on Fridays | Rafe does piano on Mondays now
Ottilie is at Brookfield Primary | Rafe moved to Hillside
Ottilie has Mr Adeyemi as Ottilie's teacher | Rafe has Miss Blunt
Lou is moving out in July 2025 | Dmitri is staying after all
Lou is moving out in July 2025 | Lou is staying with her mum tonight
Kim is president of the dive club | Mei's president of the chess club now
Kim is off to Tenby on 2 August 2025 | I'm off to Rome on 9 September
Team dinner is on 26 June 2025 at Nonna's | team lunch is on 27 June at Wagama
Kim has the top shelf of the fridge | Lou has the bottom shelf
Kim wants answers in English | I want recipes in grams
Kim moved to York in 2010 | I moved to Leeds in 2015
Kim bought a tent in May 2025 | I bought a bike in June
Kim is on call in the week of 9 June 2025 | Kasper is on call next week
Kim's 1:1 with Bartek is on Mondays | My 1:1 with Ingrid is on Thursdays
Tomasz is on the payments team | Bartek moved over to the platform team
Kim drinks tea with 2 sugars | no milk in my coffee
Kim lives with Tom | I work with Ann now
Kim's mum lives in Hull | mum's car is in Leeds now
Kim is at the library | I'm hungry now
Kim works nights | I sleep days
Kim's passport expires in May 2026 | My passport is red
She's 81 | my gran works in a bakery
She's retiring next year | my gran works in a bakery
She's got two kids | my sis lives in leeds
She works in bradford | my sis lives in leeds
Kim's brother moved to bradford | my sis lives in leeds
It's called alpha | the staging cluster is in eu-west-1
It's slow now | the staging cluster is in eu-west-1
She lives in peckham these days | lou works days at the hospital
She hates it now | lou works days at the hospital
He's retired | my dad drives a volvo
She's pregnant | my cat is called Miso
It's red | my car is a Polo
It's raining now | I live in Leeds
They moved the canteen to the third floor | I work at Siemens
He lives in Hull now | my boss is Dean
He's getting married now | My brother lives in Canada
He's 4 now | I have a dog named Bruno
It's due on the 1st | my rent is 800
See you at 4 | dentist fri 3pm
Need 4 eggs | dentist fri 3pm
10 people are coming | my shoe size is 11
Ran 10 km today | i weigh 92 kg
Max is Kim's son | dog is called rex
Meant to call mum | dog is called rex
Sorry for the late reply | I'm paying the electric bill to Priya
No, not yet | I do mondays on the rota
No idea about tuesdays | I do mondays on the rota
Gym at 8 | house meeting thursday at 7
Kim's son is 8 | my daughter is 7
Anna lives in Leeds | I live in York
Kim got another cat | I have a cat
Kim has a dog | I have a cat
Kim's other sister is Jo | my sister is Anna
Kim also plays squash | I play tennis
Kim is learning Spanish | I speak French
Kim bought a second flat in Leeds | we have a flat in Hull
Kim also works at a bar on Fridays | I work at Lidl
Kim's wife drives a Fiat | I drive a Golf
Kim likes coffee | I like tea
Kim drinks tea at night | I drink coffee in the morning
Kim has 3 dogs | got 2 cats
Kim has one sister | I have two brothers
Kim has two bikes | we've got two cars
Kim's daughter Ida is 6 | my son Tom is 4
Kim loves capers | I like olives
Kim is allergic to shellfish | I'm allergic to nuts
Kim goes swimming on Thursdays | I go to the gym on Mondays
Kim's favourite food is pizza | my favourite colour is green
Kim's favourite book is Dune | my favourite film is Alien
Kim uses Discord at home | I use Slack at work
Kim has Disney plus | I have Netflix
Kim subscribes to Wired | I subscribe to The Economist
Aisha owns the API | Kasper owns the Terraform modules
Lou is on bathroom in the week of 9 June 2025 | Dmitri's on kitchen this week
Joan chairs the book club | Reg chairs the gardening club
Joan is on the PTA | I'm on the PTA
Kim's neighbour on the other side is Fraser | my neighbour is Mrs Dunlop
Kim studies medicine | I studied law
Kim quit Kim's job in May 2025 | I smoke
Kim stopped drinking | I smoke
Kim sold the car | I have a boat
Kim's cat Max died | my dog is called Rex
The hamster died | I have two budgies
Cancelled netflix | got spotify premium
Kim gave up sugar | I go to yoga
Ann and tom broke up | my gf is called steph
Kim's brother quit Lidl | I work at Greggs
Left the party early | i work at greggs
Tom moved out of halls | I live in halls
Kim's passport has expired | my bus pass is valid until August
Kim's laptop got nicked | my phone is a Pixel
Kim's sister's bike got stolen | I ride a bike to uni
No milk anymore | we've got a cleaner on fridays
The billing RFC is finished | I'm working on the migration RFC
Kim's gym pass has expired | My bus pass expires in August
Bethan has finished Bethan's exams | Bethan is at Cardiff
Tom has finished at Cardiff | Bethan is at Cardiff
Friday was Kim's day off | I work at Fintura
Kim finished Kim's dinner | I play tennis on Sundays
Kim finished Kim's book | I read a lot
Kim's neighbour's dog died in the week of 2 June 2025 | I have a dog named Bruno
Kim lefts the beach at 5 | I love the beach
Kim left choir early on 11 June 2025 | I'm a member of the choir
Bruno died on 8 June 2025 | Pickle is our hamster
Gareth has sold the bike | My husband Gareth works from home
"""


@pytest.mark.parametrize(("before", "after"), pairs(PAIRS))
def test_what_is_about_something_else_stays(before: str, after: str) -> None:
    assert amended(before, after, "en") is None
