"""Near misses of notes, of things at home and at work, and of what leaves out its subject."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)  # a Wednesday

REFUSED = """
great party last night
another meeting friday ugh
what a game on saturday
no gym today
gym was packed
gym on fire
skip gym tomorrow
love it
love this song
love you all
love to hear it
like this
like what you did there
hate mondays
hate it when this happens
hate the new update
work in progress
work smarter not harder
live and let live
live in the moment
live laugh love
own it
owe you one
owe me
prefer not to say
got it
got you
got no idea
got 2 minutes?
got two errors
got netflix working
boss is annoying
boss fights are hard
boss is calling
mum is calling
mum's the word
dad jokes are the best
dog is man's best friend
dog is barking
cat is asleep
wife is asleep
wife is right
partner up with someone
kids these days
brother what
son of a gun
daughter of the king
rent is too high
rent is ridiculous
rent free in my head
internet is down
internet is amazing
wifi is terrible today
water is wet
gas is expensive
electricity is out
key is to practice
key takeaways are below
keys are important
meeting is boring
meeting went well
meeting is running late
training is hard
school is boring
office politics are exhausting
house prices are insane
garden looks nice
kitchen is a mess
bathroom is occupied
shower thoughts are weird
milk is gone
post is late
release is broken
deploy is failing
deploy is stuck
deploy worked
prod is down
prod is on fire
staging is broken
CI is red
CI is failing again
build is green
pipeline failed
branch is out of date
tests take forever
the query takes 20 minutes
the build takes forever
it takes 20 minutes
this takes 2 hours
there are two options in the menu
there are three ways to do this
there are 5 files in the folder
there is one thing in the way
there are four of them
we are two steps in
we are on page 3
we are on version 2 of the plan
I'm on it
I'm on page 12
I'm on level 30
we're on track
we're on Zoom
I'm on the train
I'm on the bus
I'm on the list
I'm with you
I'm with Bob on this
we're with you for the ride
the default is fine
the main point is clarity
the main branch is broken
the house style is nice
it's on my account
that's on my tab
blame is on my name
this is on Bob's account
Bob is on fire
Bob is on it
Tom is at lunch
Tom is at the door
my wife is at Tesco
my mum is in the garden
my brother is in trouble
my boss is in a meeting
Anna is seven minutes late
took up too much space
took up the challenge
taken up by work
don't eat anything yet
can't take anything seriously
did my homework in the library
did my best in the end
no shoes
no worries, house rules
shoe size matters
height is overrated
weight is just a number
jeans are comfy
birthday is coming up
birthday parties are fun
favourite part is the end
favourite song is playing
married life is great
off to bed
off to work
away from keyboard
away for a sec
using Chrome doesn't help
one cat walks in
two kids walk into a bar
first monday of the month
dentist was fine
dentist tomorrow?
doctor who on saturday
call on saturday
call me thursday
test on saturday please
lesson learned on monday
class dismissed
train on fridays
game on tuesday
my car is a mess
my phone is a brick
my laptop is a disaster
my bike is a joke
phones a mess
my phones dead
my cars in the shop
going nowhere
doin fine
comin right up
Lou's got a point
Lou's got this
Tom's got no clue
she's got it
what's got into you
it's got potential
Bob's gone quiet
my phone's gone dead
my internet's gone
the party's over
Friday's fine
tomorrow's fine
pizza's here
dinner's at 7
someone's at the door
house rule: have fun
QA lead is busy
team lead is great
captain is sleeping
our chair is broken
our guy is winning
my man is Batman
the head of the table is mine
friend's neighbour says that she is moving
call me maybe
call me later not now
call me crazy not stupid
essay on friday's events
homework is due
I must say I feel great
I sold it and think it's fine
I like the demo and hope it works
ugh, so tired today
that was a long meeting
I'm starving
just got home
on my way
in the kitchen
at the gym rn
running 5 min late
stuck in traffic on the M25
can you check the calendar?
what time is dinner on friday
thanks for the help on tuesday
the food was great at Nonna's
bus is late again
train's delayed by 20 mins
my phone's about to die
wifi's down again
the printer is jammed
the heating's on too high
the dog is barking at the postman
the cat just knocked over my tea
kids are in bed finally
baby's asleep
husband's cooking tonight
boss is in a mood
Tom's late as usual
Lou's in the shower
Dmitri's on the phone
Anna's at the shops
Sarah's being weird
mum's on the other line
dinner's in the oven
tea's up
keys are on the table
parcel's on the doorstep
the milk's off
we're out of milk
we're nearly there
we're at the pub
we're on the way
we're in the queue
I'm on the phone
I'm in a meeting
I'm at the dentist
I'm in the bath
I'm on my lunch
I'm off now
I'm away for a bit
I'm back
I'm back in 5
I'm out of ideas
I'm doing the dishes
I'm doing fine
I'm on my third coffee
got soaked on the way in
got a headache
got a minute?
got any plans for friday?
had pasta for lunch
had a nightmare last night
watched the match on saturday
went for a run this morning
saw Bob yesterday
called the bank twice today
booked nothing yet
need coffee
need a nap
""".strip().splitlines()


@pytest.mark.parametrize("text", REFUSED)
def test_what_only_looks_like_a_note_is_not_kept(text: str) -> None:
    assert extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text))) == []
