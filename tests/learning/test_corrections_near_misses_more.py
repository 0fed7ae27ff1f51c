"""More messages that sound like a change, and change nothing that is known."""

import pytest

from tests.learning.corrections import amended, pairs

PAIRS = """
Kim's gran lives in Hove | she's got a new hip
Kim's little brother works at subway | he's 19 now
Kim's cat is called Biscuit | she's moved under the bed
Kim's mate Kev lives in Poole | he's started at Tesco
The board meeting is in the Oak Room | It has been a long day
Kim's appointment with the vet is at 4 | they've moved the sofa
Kim's daughter is in Year 5 | She's into horses now
Kim's dad drives a lorry | he gave up smoking
Footy training is at 6 | dinner at 7
Kim takes 10 mg of ramipril | it makes me dizzy now
Table for 5 on saturday | 6 of us went last time
Kim's locker is 42 | I'm 24
Kim's username is sam_b | my gamer tag is samb
Kim goes gym on 16 June 2025 and on 18 June 2025 | swim tue and thu now
Kim swims on Wednesdays | these days I cycle on Fridays
The choir meets in the church hall | the book club meets in the library now
Kim pays 12 a month for Kim's phone | broadband's 15 a month now
Kim's flatmate is Nia | Nia's gone out
Kim's line manager is Deepa | my mentor is Colin now
Kim sits on the third floor | the canteen's on the fifth floor
Kim is with EE | my dad moved to giffgaff
Kim's gp is dr patel | my mums gp is dr woods
Kim's cleaner comes on tuesdays | the gardener comes thursdays from next week
Kim has a Labrador | next door had their poodle put down
Kim has a season ticket at Spurs | gave up my seat on the bus
Kim plays in a ukulele group | I left my ukulele at home
Kim volunteers at the food bank | I don't bank with Lloyds any more
Kim is learning Welsh | gave up on the crossword
Kim is seeing a guy called Marcus | Marcus and I are off to Rome
Kim is engaged to Beth | Beth called
Kim shares a flat with two people | three people came to dinner
Kim has a 2 month old | our sofa is 6 months old now
Kim's mortgage is 900 a month | council tax went up to 1100
The project has 3 developers | we need two testers
The team is called Red Foxes | our pub quiz team is called Blue Foxes
Kim's daughter goes by Lizzie | my niece goes by Beth now
Kim loves pineapple on pizza | gone off mushrooms
Kim cannot stand jazz | I quite like blues now
Kim loves Kim's job | I hate my commute now
Kim prefers texts | i prefer tea now
Kim is a morning person | I'm a dog person now
Kim does not drink | I've started baking again
Kim does not eat meat | I eat fish again
Kim's sister is pregnant | my cousin had a little girl
Kim is looking for a job | I got a dog at the shelter
Kim has to call the bank | called my mum
The library opens at 9 | The pool opens at 10 from Monday
Olga heads the lab | Pavel heads the library now
Kim's kids are at Sunny Days nursery | the dogs are at Little Acorns now
Kim's in-laws live in Kent | my parents have moved to Devon
Kim's office is in Soho | my gym is in Shoreditch now
The drill is in the shed | the mower's in the garage now
Passports are in the top drawer | socks are in the bottom drawer
Tom has Kim's ladder | tom gave the cat a bath
Kim lent Sara Kim's tent | Sara gave me a lift
Kim uses an iPhone | my wife uses an Android now
Kim uses Chrome at work | using firefox at home now
Kim uses Trello for tasks | we use Slack for chat now
Kim listens to Spotify | I listen to podcasts now
Kim reads the Guardian | stopped reading at midnight
Kim shops at Tesco | I work at Morrisons now
Kim gets Kim's hair cut at Toni's | I get my nails done at Snips now
Kim takes coffee black | I take milk in my tea now
Kim starts work at 8 | I start the night with a film
Kim's ankle is broken | my wrist's healed
Kim has a cold | the curry's gone cold
Hotel is the Ibis | changed the tyres
Kim is going to Crete in June 2025 | we're going to Corfu in August
Kim is going to Ben's wedding | can't make Sue's hen do after all
Kim's thesis is due on 1 May 2026 | essay deadline got extended to 1 June
Kim's driving test is on 4 July 2025 | passed my theory test
Kim's lucky number is 7 | my house number is 9
Kim's hair is blonde | dyed my jeans red
Kim wears glasses | no more biscuits
Kim has a gas cooker | we've got a new fridge now
Kim's dog is 3 | our cat's 4 now
Bin day is on fridays | bath day is monday
Kim's counsellor is Jan | I see Ruth on Fridays
Kim's brother is a chef | he's a dad now
Kim's brother is a chef | he's vegan now
Kim has an Audi | I have a Fender
Kim has a son | I have a daughter now
Kim's aunt has a farm | My aunt has a blog now
Kim meets on Mondays at the pub | we meet on Thursdays at the gym
Kim had pizza on Friday | I had curry on Saturday
Kim met Ann in Leeds | I met Tom in York
Kim was in Rome in May 2025 | I was in Oslo in June
Paul is Kim's cousin | Paul is my neighbour now
Paul is tall | Paul is tired now
Kim has a meeting at 10 | I have a meeting at 3
Kim has a dentist appointment on 16 June 2025 | I have a doctor's appointment on Tuesday
Kim's mum's birthday is 3 May | my dad's birthday is 9 June
Kim knows Python | I know Rust now
Kim is from Leeds | I live in York now
Kim studied at Kent | I work at Kent now
Kim wants a dog | I want a boat now
The red mug is mine | the blue mug is Tom's now
Kim owes Bob 20 | I owe Ann 30 now
Kim lent Tom a book | I lent Ann a bike
Kim's first car was a Fiat | my car is a Golf now
Kim's phone is black | my phone is old now
Kim's laptop is a Dell | my laptop is slow now
The kitchen is blue | the bathroom is green now
Kim does yoga on Mondays | I do the shopping on Tuesdays now
Kim watchs films on Fridays | we watch the kids on Saturdays
The car needs oil | the car needs petrol now
Kim's left knee hurts | my right knee hurts now
Kim takes vitamin D | I take iron now
Kim is scared of dogs | I'm scared of bees now
Kim supports Leeds | my son supports Man U now
Kim is good at chess | I'm bad at darts
Kim's sister Jo is a nurse | my sister Amy is a teacher now
The meeting with Ann is at 3 | the meeting with Tom is at 4 now
Flight out is on 3 July 2025 | flight back is on 10 July
Check in is at 2 | check out is at 11
Monday's dinner is pasta | Tuesday's dinner is soup
Kim's work email is a@b.co | my private email is c@d.co
Kim has a flat in Leeds | I have a house in Spain now
Kim gets Kim's milk delivered on Tuesdays | The bread van comes on Mondays now
Kim's youngest, Edie, is at playgroup | Edie has started walking
Kim's builder is called Stan | our plumber's a chap called Mick
Kim's mother-in-law stays with Kim every Christmas | She's not coming to lunch
Kim is reading Middlemarch for book club | I gave up on the crossword, I'm on the sofa now
Book club is at Helen's this month | Bridge has moved to mine
Kim's Tim is at university in Durham | Tim's bought a car, he's in a band now
Kim has Kim's hair done on a Thursday | I have my nails done on Fridays now
Kim is having the kitchen done in May 2026 | The bathroom's been put back to September
Kim cannot drive | I've passed my piano exam
Kim's knee operation is on 12 August 2025 | They've brought my eye test forward to 28 July
Kim keeps chickens | The fox got the neighbour's rabbit
Insta is @lola.x | new tiktok @lolaxx
Bestie is mia | me and zoe arent friends anymore
Kim hates maths | art is my fave now
Kim does drama club on 17 June 2025 | quit netball
Kim got a crush on ben | over the moon
Kim lives w Kim's mum | working w my dad now
Xbox name is drago11 | changed my sheets
Kim has braces | got my nails off
Kim is in set 3 for maths | moved up to row 2 in drama
Kim's bus is the 43 | my train is the 17:44 now
Office hours are 9 to 5 | Support hours are 10 to 6 from July
Kim's CTO is Rana | Felix is CFO now
The budget is 40k | Salaries got cut to 30k
Kim ships every two weeks | We meet weekly now
The API limit is 100 requests per minute | They raised the price to 250
Kim hosts on Heroku | We migrated the wiki to Notion
Kim reviews PRs on Mondays | I don't do lunches on Mondays anymore
Answer in bullet points | Stop using emojis
Keep answers short | Keep titles long
Kim is the scrum master | Yusuf is the designer as of today
The offsite is in Lisbon | We had to switch the venue for the party to Porto
Kim's badge number is 5521 | New desk, number 6610
Kim has 12 customers | We just hit 20 employees
The contract runs to March | The lease was extended to December
Vendor is Kestrel | We dropped the price, shipping is free
Kim sings in the church choir | I no longer sing in the shower
Kim's pension is paid on the 15th of the month | The paper comes on the 20th these days
Kim takes two water tablets a day | The doctor has cut me down to one coffee
Kim's carer is Joy | Joy has gone to the shop
Kim's hearing aid is in the left ear | I have a cold in both ears
The bridge club is on Monday afternoons | Whist is Tuesday afternoons since the hall was let
Kim has meals on wheels | I stopped the milk
Kim gets about with a stick | I've a scooter for town as well
Kim's grandson Luke is courting a girl named Amy | Luke and Amy have bought a dog
Kim has gas heating | They took out the bath
Kim is living in Krakow | My sister is living now in Gdansk
Kim has 3 month contract | My wife's contract is now permanent
Kim's visa is valid to May | I extended my lease to November
Kim's roommate is Pavlo | Pavlo went to the shop
Kim sends money home each month | I don't need to send the form any more
Kim's son will start school in September 2025 | My daughter's start is delayed to next year
Kim's bike is stolen | Police found my phone
Kim plays the violin | I play the drums in a band now
Kim's sister works at Boots | my sister lives at mum's now
The blue bag is in the car | The red bag is in the hall now
Kim's daughter has asthma | My daughter has a cold now
Kim is cooking tonight | I'm cooking tomorrow now
The shop is on Mill Road | The shop is busy now
Kim's boss is Ann | My boss is on holiday now
Kim's boss is Ann | My boss's boss is Tim now
Kim has a Spotify account | I have a Tidal account for work now
Kim gots a new bike | I got a new helmet
Kim has started running | I've started swimming now
Kim's dog is 3 | Our dog is on a diet now
Kim's mum is 70 | My mum is in Spain now
Tom is Kim's brother | Tom is my lodger now
Kim speaks Polish | I dream in English now
Kim's rent is 800 | My rent is late now
Kim's flight is at 9 | My flight is on Friday now
The wedding is in June 2025 | The wedding is in Kent
Kim is a nurse | I'm a mum now
Kim studies physics | I study at night now
Kim works in Leeds | I work from 9 now
Kim goes to bed at 10 | I go to work at 10 now
She's got a new hip | my gran lives in Hove
He's 19 now | my little brother works at subway
She's moved under the bed | our cat is called Biscuit
He's started at Tesco | my mate Kev lives in Poole
It has been a long day | The board meeting is in the Oak Room
They've moved the sofa | my appointment with the vet is at 4
She's into horses now | My daughter is in Year 5
He gave up smoking | dad drives a lorry
Dinner at 7 | footy training is at 6
Bus at 08:42 | train's at 08:12
Kim is 24 | my locker is 42
Kim's gamer tag is samb | my username is sam_b
Swim tue and thu now | i go gym mon and wed
Kim cycles on Fridays | I swim on Wednesdays
The book club meets in the library now | the choir meets in the church hall
Broadband is 15 a month | I pay 12 a month for my phone
Nia's gone out | my flatmate is Nia
Kim's mentor is Colin | My line manager is Deepa
The canteen is on the fifth floor | I sit on the third floor
Kim's dad moved to giffgaff | i'm with EE
Kim's mums gp is dr woods | my gp is dr patel
The gardener comes thursdays from the week of 16 June 2025 | our cleaner comes on tuesdays
Gave up Kim's seat on the bus | I've got a season ticket at Spurs
Kim lefts Kim's ukulele at home | I play in a ukulele group
Kim does not bank with Lloyds anymore | I volunteer at the food bank
Gave up on the crossword | I'm learning Welsh
Marcus and I are off to Rome | I'm seeing a guy called Marcus
Beth called | I'm engaged to Beth
Three people came to dinner | I share a flat with two people
Kim's sofa is 6 months old | I've got a 2 month old
Council tax went up to 1100 | my mortgage is 900 a month
Kim needs two testers | the project has 3 developers
Kim's pub quiz team is called Blue Foxes | the team is called Red Foxes
Kim's niece goes by Beth | my daughter goes by Lizzie
Gone off mushrooms | i love pineapple on pizza
Kim quite likes blues | I can't stand jazz
Kim hates Kim's commute now | I love my job
Kim prefers tea | i prefer texts
Kim is a dog person | I'm a morning person
Kim has started baking | I don't drink
Kim eats fish | I don't eat meat
Kim cleans every night | I never cook
Kim's cousin had a little girl | my sister's pregnant
Kim got a dog at the shelter | I'm looking for a job
Holiday's booked | I need to book the MOT
Called Kim's mum | I have to call the bank
The pool opens at 10 from 16 June 2025 | The library opens at 9
Pavel heads the library now | Olga heads the lab
The dogs are at Little Acorns now | the kids are at Sunny Days nursery
Kim's parents have moved to Devon | my in-laws live in Kent
Kim's gym is in Shoreditch | my office is in Soho
The mower is in the garage | the drill is in the shed
Socks are in the bottom drawer | passports are in the top drawer
Tom gave the cat a bath | tom has my ladder
Kim's wife uses an Android | I use an iPhone
Using firefox at home now | I use Chrome at work
Kim uses Slack for chat | we use Trello for tasks
Kim listens to podcasts | I listen to Spotify
Stopped reading at midnight | I read the Guardian
Kim works at Morrisons | I shop at Tesco
Kim gets Kim's nails done at Snips | I get my hair cut at Toni's
"""


@pytest.mark.parametrize(("before", "after"), pairs(PAIRS))
def test_what_only_sounds_like_a_change_stays(before: str, after: str) -> None:
    assert amended(before, after, "en") is None
