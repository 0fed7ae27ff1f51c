"""Notes that are asked, supposed, quoted, wished for or said in jest."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)  # a Wednesday

REFUSED = """
is the standup at 9:30 or 10
when do bins go out
whose turn is it for the kitchen this week
put the bins out tuesday
book the dentist for friday 3pm
can you book dentist fri 3pm
if rent goes up in july I'm out
if the gym on tuesdays is too busy we could switch
in my story the landlord is Mr Petrov
"rent is due on the 1st" said the sign
he said "bins go out tuesday"
imagine rent is £200
wish rent was £200
rent should be £200
rent might be due on friday
maybe gym on tuesdays
maybe dentist friday
probably dentist fri 3pm
dentist fri or sat?
dentist friday, or was it thursday
translate: the spare key is in the teapot
write a poem about how the bins go out on tuesday
fix the sentence: rent are due on the 1st
example: the default branch is main
let's say the default branch is main
suppose prod deploys from main
what if prod deploys from main
does prod deploy from main
I wish we were on Python 3.11
are we on Python 3.11
we should be on Python 3.11
we could track tickets in Jira
why do we track tickets in Jira
lol imagine tracking tickets in Jira
there should be four of us in the flat
there might be twelve children coming to the party
were there four of us in the flat
Netflix is on fire lately
Netflix is on my nerves
the party is on me
drinks are on me
dinner's on me
that's on me
the joke is on you
all eyes are on Lou
Lou's on a roll
Lou's on one today
Dmitri's on fire this week
Dmitri's on about football again this week
Tom's on edge
my boss is on my back
my sister is in denial
my brother is in love
my mum is in hospital visiting hours
my dad is at war with the squirrels
my cousin is at it again
Anna is ten times better
Anna is five foot nothing
Bob is forty shades of grey
I'm on the verge of tears
I'm on the fence about the committee
we're with you in spirit
call me old-fashioned not stupid
love the committee
took up the whole sofa
I can't abide by that decision
not one for the books
I did my best at school today
I did my laundry in the sink
got gaslit again
got ghosted
got rickrolled
got owned in chess
got adhd vibes from this
live stream in 5
live music tonight
like a boss
like a moth to a flame
own goal
owe it to yourself
bank on it
work it out
speak up
speak now
study shows coffee is good
drive safe
play nice
commute was hell
my man is on fire
our guy is Bob the builder
the teacher is Mr Burns in that episode
my spirit animal is a sloth
my other car is a broomstick
my car is a spaceship
my bike is a rocket
my phone is a potato
my laptop is a toaster
my favourite child is the dog
my editor is a nightmare
five of us against the world
there are two kinds of people in the world
there are four people in the photo
we are seven in dog years
the deploy takes forever
the bus takes ages
the drive takes it out of me
logs are full of errors
backups are important
docs are in the link
errors are on line 5
tickets are on me
notes are in the doc
flags are in the wind
no pain no gain
no shoes no service
no parking spaces left
house rules
house rule number one is have fun
bins day joke
pension jokes on the 28th
rent jokes
Since when is Bob the lead
QA lead is wrong
the lead is Tom Hanks
captain is Jack Sparrow
president is Lincoln
""".strip().splitlines()


@pytest.mark.parametrize("text", REFUSED)
def test_a_note_that_is_not_meant_is_not_kept(text: str) -> None:
    assert extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text))) == []
