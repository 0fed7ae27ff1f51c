"""Changes said in the ways in which people type them: pronouns, fragments, ends, numbers, roles."""

import pytest

from tests.learning.corrections import amended, pairs

PAIRS = """
Kim is giving the keys to Anna | sorry, I meant Hanna
Kim works at tesco | packed in tesco
Kim works at tesco | jacked in the job
Kim works at Tesco | handed in my notice at tesco
Kim's manager is paul | new manager is sue
Kim's bf is called dan | me and dan broke up
Kim's email is a@b.com | new email c@d.com
Leo is at Oakwood School | we've moved Leo to St Mary's
Kim works at the museum in Bath | I left the museum and I'm at the council these days
Kim's wife Ann works from home | Ann's back in the office now
Leo has Mrs Kaur as Leo's teacher | Mrs Kaur has left, so Leo's teacher is Mr Bell
Kim has a rabbit called Thumper who bites | Thumper died on Monday
Kim cannot stand running | I've turned into a runner, I love it
Kim cannot stand opera | I've come to love opera
Kim's dad lives alone in Hull | Dad lives with us since March
The barbecue is at one on 15 June 2025 | I've had to push the barbecue back to two
Kim drives a Corsa | The Corsa went to the scrapyard and we've got a Yaris now
Kim's kitten is called Poppy | We've renamed the kitten, she's called Daisy now
Kim's brother Tom is in Bristol | Tom has sold up and gone to live in Exeter
Kim is on the school board | I've come off the school board
Leo cannot ride a bike | Leo can ride a bike now
Kim is on support in the week of 9 June 2025 | Ola took over support from me
The repo is called foo-core | The repo has been renamed to bar-core
Kim hates Java | I've come round to Java, I like it these days
Kim's team has four people | We're five people since Ola joined
Per owns the login page | Per handed the login page over to Ola
The default port is 80 | Default port is 8080
Kim's garage is number 4 | They've given me number 9 in place of number 4
Kim goes to the pottery class at the college | I've given up pottery
The treasurer of Kim's club is Bob | Joan was voted in as treasurer of the club after Bob
Kim does not care for opera | I've grown fond of opera
Kim's neighbour is Mr Hale | Mr Hale has moved away, and my neighbour is a woman called Priti
Kim's essay is on Kant | changed my essay topic, it's Hegel
Dr Bo is Kim's tutor | Dr Bo's on leave so Dr Lee tutors me
Kim is doing French B1 | passed B1, I'm in B2 now
Kim is captain of the hockey team | Mei's captain of the hockey team now
Kim's landlord is Mr Roy | new landlord, she's called Mrs Bell
Kim has the left drawer | swapped drawers with Bob, I've got the right one
Staff lunch is on 4 May 2026 at Zizzi | Zizzi is full so staff lunch is at Prezzo
Bob is leaving in May 2026 | Bob's staying after all
The boiler is broken | boiler got fixed
The bike is on Ann's balcony | the bike's on my balcony since monday
Disney plus is on Bob's account | Bob cancelled Disney plus
Kim has two children | We had a third child in June
Kim's name is Ann Bell | I changed my surname to Roy
Kim subscribes to Wired | I cancelled my subscription to Wired
Kim trains at Fit4Less | left fit4less, I'm at PureGym
Kim shops at Aldi | I do my shopping at Lidl these days
Kim has a season ticket for Leeds | didn't renew my season ticket
Kim's lease runs until May 2026 | the lease runs until August
Kim sits next to Bob | I sit next to Ann now
Kim plays bass in a band | the band split up
Kim plays bass in a band | I quit the band
The lift is broken | the lift works again
Kim takes the 8:15 train | I take the 7:45 now
Kim has a blue Golf | sold the golf
Ann is Kim's flatmate | Ann moved out
Ann is Kim's flatmate | Bob moved in instead of Ann
Kim owes Bob 20 | paid Bob back
Kim is reading Dune | finished dune
Kim is looking for a flat | found a flat
Kim's locker is 42 | *24
Kim is meeting Zoe on 12 June 2025 | fri not thurs
Kim is allergic to penicillin | turns out I'm not allergic to penicillin
Kim swims on Wednesdays | these days I swim on Fridays
The choir meets in the church hall | the choir meets in the library now
Kim pays 12 a month for Kim's phone | my phone's 15 a month now
Kim's flatmate is Nia | Nia's moved out, Tess has her room
Kim's line manager is Deepa | Deepa's left so I report to Colin
Kim reports to Deepa | I report to Colin now
Kim is a barista at Costa | I left Costa, I'm a receptionist now
Kim's gp is dr patel | dr patel retired, its dr woods now
Kim's cleaner comes on tuesdays | cleaner comes thursdays from next week
Kim has a Labrador | We had to have the Labrador put down
Kim has a season ticket at Spurs | gave up my season ticket
Kim plays in a ukulele group | I've left the ukulele group
Kim volunteers at the food bank | I don't volunteer at the food bank any more
Kim is learning Welsh | gave up on welsh
Kim has a paper round | jacked in the paper round
Kim rents a garage | I handed back the garage
Kim has a Labour party membership | I resigned my party membership
Kim is treasurer of the PTA | stepped down as treasurer
Kim's licence expires in June 2025 | renewed my licence, good till 2035
Kim is seeing a guy called Marcus | Marcus and I are done
Kim is engaged to Beth | Beth called off the engagement
Kim's commute is 40 minutes | commute's an hour since the move
Kim's mortgage is 900 a month | mortgage went up to 1100
The project has 3 developers | we're down to two developers
The team is called Red Foxes | we're called the Blue Foxes now
Kim's street is called Mill Lane | they renamed our street Weaver's Way
Kim loves pineapple on pizza | gone right off pineapple on pizza
Kim cannot stand jazz | actually I quite like jazz now
Kim is not a fan of running | running has really grown on me
Kim loves Kim's job | I hate my job now
Kim does not drink | I've started drinking again
Kim does not eat meat | I eat meat again
Kim does not have a car | I've bought a car
Kim is not married | we got married in April
Kim is looking for a job | I got a job at Boots
Kim is saving for a bike | bought the bike
Kim has to call the bank | called the bank
Kim is waiting for Kim's exam results | got my results
The library opens at 9 | Library opens at 10 from Monday
The shop is closed on Sundays | The shop opens on Sundays now
Olga heads the lab | Pavel heads the lab now
Olga is the head of the lab | Pavel took over from Olga
Kim's kids are at Sunny Days nursery | the kids are at Little Acorns now
Kim's in-laws live in Kent | my in-laws have moved to Devon
Kim's office is in Soho | we moved offices to Shoreditch
Kim's desk is by the window | moved desks, I'm by the door
The drill is in the shed | the drill's in the garage now
Tom has Kim's ladder | tom gave the ladder back
Kim lent Sara Kim's tent | Sara gave me the tent back
Kim uses Trello for tasks | we've moved from Trello to Asana
Kim listens to Spotify | I've dropped Spotify for Apple Music
Kim reads the Guardian | stopped reading the Guardian
Kim shops at Tesco | I shop at Morrisons instead of Tesco now
Kim works full time | I've gone part time
Kim is on a diet | diets over
Kim has a cast on Kim's arm | the cast came off
Kim's ankle is broken | ankle's healed
Kim has a cold | cold's gone
Flight BA123 departs at 14:10 | flight's delayed to 15:40
Hotel is the Ibis | changed the hotel to the Hilton
Kim is going to Crete in June 2025 | we're going to Corfu instead
Kim is going to Ben's wedding | can't make Ben's wedding after all
Kim's lucky number is 7 | my lucky number is 9
Kim's star sign is Leo | oops my star sign is Virgo
Kim's hair is blonde | dyed my hair red
Bin day is on fridays | bin days monday now
Kim's counsellor is Jan | I see Ruth instead of Jan
"""


@pytest.mark.parametrize(("before", "after"), pairs(PAIRS))
def test_a_change_said_in_other_words_is_heard(before: str, after: str) -> None:
    assert amended(before, after, "en") is not None
