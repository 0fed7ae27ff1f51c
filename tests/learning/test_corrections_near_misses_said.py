"""Words of change, ends and pronouns that speak of something else."""

import pytest

from tests.learning.corrections import amended, pairs

PAIRS = """
Kim's boss is dean | new boss starts monday
Kim's boss is dean | new boss fight in the game is hard
Kim's phone is a pixel | new phone case arrived
Kim's number is 07700 900112 | number 7 bus is late now
Kim works at Asda | they let me go early today
Kim works at Asda | off to Asda
Kim takes aspirin | off to bed
Kim likes tequila | off out tonight
Kim likes tequila | gone off to the shops
Kim's gf is called steph | steph left me a note
Kim's gf is called steph | steph left the house at 9
Kim's wife is called Jen | Jen left me her car
Kim is on the search team | Kat joined the ads team
Kim is on the search team | I've joined the running club
Kim is on Django 4 | We upgraded the office chairs
Kim is on Django 4 | We looked at Flask 3
Prod runs Redis 6 | Staging is on Redis 7 now
Kasper owns the docs | Nadia took over the tests from Sven
Kasper owns the docs | Kasper handed the keys over to Nadia
Reg is chair of the gardening club | Joan was voted in as chair of the chess club after Sid
Joan is treasurer | Joan was voted best cook
Kim likes jazz | jazz night is on Friday now
Kim hates running | I've turned into a pumpkin
Kim hates cats | my sister's become a total cat lady
Ottilie is at Brookfield | we moved Ottilie to the back bedroom
Ottilie is at Brookfield | we've moved Ottilie's bed to the window
Tom is at Leeds | we sent Tom to bed
The rota is on the fridge | I moved the fridge to the garage
The launch is on 5 September 2025 | They moved the printer to the second floor
The launch is on 5 September 2025 | They pushed the button to 11
Kim's desk is by the window | moved the plant to the door
The team has six engineers | six engineers joined the call now
The team has six engineers | the other team has seven engineers now
Kim has two kids | my brother has three kids now
Kim has two kids | two kids came round now
Kim has 2 cats | 3 cats were in the garden today
Twelve people are coming on Friday | fourteen people came last year
There are four people in the flat | there are five people on the bus now
Kim is 44 | 45 minutes now
Kim is 44 | 45 people today
Kim's waist is 34 | chest 36 now
Kim weighs 92 kg | the sofa weighs 88 kg
Kim weighs 92 kg | make it 2 coffees
Kim has dentist on 13 June 2025 at 15:00 | make it a large one
Kim has dentist on 13 June 2025 at 15:00 | make it stop
Dentist is at 3 | lunch at 4 now
Kim's train is at 8:12 | it's 8:42 already
Kim's train is at 8:12 | it's raining now
Kim's sister lives in Leeds | it's cold there now
Kim's sister lives in Leeds | she's on holiday in Spain now
Kim's sister lives in Leeds | she's visiting Bradford
Kim's sister lives in Leeds | she moved the sofa to the hall
Kim's sister works in a bank | she's tired
Kim's sister works in a bank | she's left her bag here
Kim's sister is 30 | she's left
Kim's gran lives in Hove | she's been to Rome
Kim's gran is called Edna | she's lovely
Kim's uncle drives a bus | he's got a Volvo now
Kim's dog is 3 | he's asleep now
Kim's dog is called Rex | he's 4 now
Kim's dog is called Rex | he's gone to the vet
Kim's tutor group meets in room 7 | it's boring now
The cluster is in eu-west-1 | it's down now
The cluster is in eu-west-1 | it's on Kubernetes now
The party is at 3 | it's at mine
The party is at 3 | it's on Saturday now
The party is on 14 June 2025 | it's a barbecue now
The car is in the garage | it's a Polo
The car is red | it's in the garage now
Rent is 600 each | bills are 650 each from July
Rent is 600 each | rent is due on the 1st from July
Spare key is in the teapot | the cat is with Doris
Spare key is in the teapot | spare key is gold now
The permit is on Dmitri's car | the sticker is on my car since yesterday
The permit is on Dmitri's car | the permit is blue
Ben is on bins in the week of 9 June 2025 | Ben's away so Kat's on the sofa
Ben is on bins in the week of 9 June 2025 | Kat's on bins next week
Ann is on call in the week of 9 June 2025 | Bob is on call in July now
Kim is president of the dive club | Mei's president of the student union now
Kim is captain | Jas is captain of the B team now
Kim is a nurse | Jas is a nurse now
Kim lives on the second floor | I work on the third floor now
Kim sits on the third floor | I'm on the phone now
Kim is with EE | I'm with my mum now
Kim is with EE | switched to decaf
Kim uses Chrome | switched to decaf coffee
Kim uses Chrome | using my phone now
Kim reads the Guardian | reading in bed now
Kim starts work at 8 | I start the course at 9 now
Kim starts work at 8 | start the car
Kim plays tennis | playing at home now
Kim works full time | my wife's gone part time
The shop is closed on Sundays | The door opens now
The shop is closed on Sundays | The cafe opens on Sundays now
The oven is broken | the tap got fixed
The oven is broken | the oven is dirty again
Kim's mum is in hospital | dad's home now
Kim's mum is in hospital | she's in a ward now
Kim's bike is stolen | police found my keys
Kim's passport expires in May 2026 | renewed my library card
Kim cannot drive | passed the salt test
Kim is learning to drive | passed the bakery
Kim owes Bob 20 | paid Ann back
Kim owes Bob 20 | Bob paid the bill
Kim is looking for a flat | found a great cafe
Kim is looking for a job | found a job for my brother
Kim does not have a car | I've got a van
Kim does not like olives | I love olive oil now
Kim cannot swim | I can dive now
Ella cannot swim | Ella can swim with armbands
Kim's hair is blonde | dyed my hair band red
The kitchen is blue | painted the fence red
Kim's street is called Mill Lane | they renamed the pub The Crown
The team is called Red Foxes | we're called to the office now
Kim's company is called Brightside | we rebranded the app as Northstar
Kim's daughter goes by Lizzie | she goes by bus now
Kim loves Kim's job | grown up now
Kev lives in Poole | Kev's moved desks
Kev lives in Poole | Kev has sold the boat and gone to Spain for a week
Kev lives in Poole | Kev's back in the pub now
Gareth works from home | Gareth's in the office kitchen now
Gareth works from home | Gareth's home now
Kim works from home | I eat from the canteen now
Kim works nights | nights are cold now
Kim is vegan | my cat's gone off fish
Kim subscribes to Wired | I cancelled my subscription to Vogue
Kim has Netflix | Lou cancelled the party
Kim has a cleaner | no cleaner came today
Kim has a cleaner | no milk anymore
Kim goes to pottery class | I gave up my seat at pottery class
Kim is on the PTA | I came off the motorway
Bob is leaving in May 2026 | Ann's staying after all
Bob is leaving in May 2026 | Bob's staying at mine tonight
Bethan is at Cardiff | Bethan finished the cake
Alf lives in Perth | Alf's dog passed away
Alf lives in Perth | Ted passed away
Kim's name is Ann Bell | I changed my username to Roy
Kim's flight is on 3 July 2025 | My connecting flight has moved to 4 July
Kim has a meeting with Ann on 16 June 2025 | the meeting with Bob has been moved to Tuesday
The default branch is master | default editor is vim
New boss starts on 16 June 2025 | my boss is dean
New boss fight in the game is hard | my boss is dean
New phone case arrived | my phone is a pixel
Number 7 bus is late now | my number is 07700 900112
Off to Asda | I work at Asda
Off to bed | I take aspirin
Off out tonight | i like tequila
Gone off to the shops | i like tequila
Steph left the house at 9 | my gf is called steph
Jen left Kim Jen's car | my wife is called Jen
Kat joined the ads team | I'm on the search team
Kim has joined the running club | I'm on the search team
Kim upgradeds the office chairs | We're on Django 4
Kim lookeds at Flask 3 | We're on Django 4
Staging is on Redis 7 | Prod runs Redis 6
Nadia took over the tests from Sven | Kasper owns the docs
Kasper handed the keys over to Nadia | Kasper owns the docs
Joan was voted in as chair of the chess club after Sid | Reg is chair of the gardening club
Joan was voted best cook | Joan is treasurer
Jazz night is on 13 June 2025 | I like jazz
Kim's sister has become a total cat lady | I hate cats
Kim moved Ottilie to the back bedroom | Ottilie is at Brookfield
Kim has moved Ottilie's bed to the window | Ottilie is at Brookfield
Kim sents Tom to bed | Tom is at Leeds
Kim moved the fridge to the garage | The rota is on the fridge
They moved the printer to the second floor | The launch is on 5 September
They pushed the button to 11 | The launch is on 5 September
Moved the plant to the door | my desk is by the window
Six engineers joined the call now | the team has six engineers
The other team has seven engineers now | the team has six engineers
Kim's brother has three kids | I have two kids
Two kids came round now | I have two kids
3 cats were in the garden today | I have 2 cats
Fourteen people came last year | Twelve people are coming on Friday
There are five people on the bus | there are four people in the flat
45 minutes now | I'm 44
45 people today | I'm 44
Chest 36 now | waist 34
The sofa weighs 88 kg | I weigh 92 kg
Make it 2 coffees | I weigh 92 kg
Make it a large one | dentist fri 3pm
Make it stop | dentist fri 3pm
Lunch at 4 now | dentist is at 3
It's 8:42 already | my train is at 8:12
It's raining now | my train is at 8:12
It's cold there now | my sister lives in Leeds
She's on holiday in Spain now | my sister lives in Leeds
She's visiting Bradford | my sister lives in Leeds
She moved the sofa to the hall | my sister lives in Leeds
She's tired | my sister works in a bank
She's left her bag here | my sister works in a bank
She's left | my sister is 30
She's been to Rome | my gran lives in Hove
She's lovely | my gran is called Edna
He's got a Volvo now | my uncle drives a bus
He's asleep now | my dog is 3
He's 4 now | my dog is called Rex
He's gone to the vet | my dog is called Rex
It's boring now | my tutor group meets in room 7
It's down now | the cluster is in eu-west-1
It's on Kubernetes now | the cluster is in eu-west-1
It's on Saturday now | the party is at 3
It's a barbecue now | the party is on Saturday
It's a Polo | the car is in the garage
Bills are 650 each from July | rent is 600 each
Rent is due on 1 July 2025 from July 2025 | rent is 600 each
The cat is with Doris | spare key is in the teapot
Spare key is gold now | spare key is in the teapot
The sticker is on Kim's car since 10 June 2025 | the permit is on Dmitri's car
The permit is blue | the permit is on Dmitri's car
Ben's away so Kat's on the sofa | Ben is on bins this week
Kat is on bins in the week of 16 June 2025 | Ben is on bins this week
Bob is on call in July 2025 | Ann is on call this week
Mei's president of the student union now | I'm president of the dive club
Jas is captain of the B team | I'm captain
Jas is a nurse | I'm a nurse
Kim works on the third floor | I live on the second floor
Kim is on the phone now | I sit on the third floor
Kim is with Kim's mum now | I'm with EE
Kim switched to decaf | I'm with EE
Kim switched to decaf coffee | I use Chrome
Using Kim's phone now | I use Chrome
Drinking wine now | I drink tea
Kim is reading in bed | I read the Guardian
Kim starts the course at 9 now | I start work at 8
Start the car | I start work at 8
Playing at home now | I play tennis
Kim's wife's gone part time | I work full time
The door opens now | The shop is closed on Sundays
The cafe opens on Sundays | The shop is closed on Sundays
The tap got fixed | the oven is broken
The oven is dirty again | the oven is broken
Dad's home now | mum is in hospital
Police found Kim's keys | my bike is stolen
Found a tenner | I've lost my keys
Renewed Kim's library card | my passport expires in May
Kim passed the salt test | I can't drive
Passed the bakery | I'm learning to drive
Paid Ann back | I owe Bob 20
Bob paid the bill | I owe Bob 20
Found a great cafe | I'm looking for a flat
Found a job for Kim's brother | I'm looking for a job
The bank called | I need to call the bank
Hotel's booked | I need to book flights
Kim has a van | I don't have a car
Kim bought a dog bed | I don't have a dog
Kim loves olive oil | I don't like olives
Kim can dive | I can't swim
Ella can swim with armbands | Ella can't swim
Dyed Kim's hair band red | my hair is blonde
Painted the fence red | the kitchen is blue
They renamed the pub The Crown | our street is called Mill Lane
Kim is called to the office | the team is called Red Foxes
Kim rebrandeds the app as Northstar | my company is called Brightside
She goes by bus now | my daughter goes by Lizzie
"""


@pytest.mark.parametrize(("before", "after"), pairs(PAIRS))
def test_words_of_change_about_something_else_change_nothing(before: str, after: str) -> None:
    assert amended(before, after, "en") is None
