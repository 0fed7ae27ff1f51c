"""Talk of the moment about things at home and at work, in few words."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)  # a Wednesday

REFUSED = """
need to pee
need to leave in 10
want pizza
love the new logo
love that for you
love how this turned out
hate this weather
hate waiting
like seriously
like I said
prefer the second one
live footage from tonight
work was hell today
work is fine
school was cancelled today
gym was closed
meeting got cancelled
meeting in 5
call in 10
standup now
standup is cancelled today
deploying now
deploy finished
CI is stuck again
build broke on main
prod is slow this morning
staging is down for maintenance
tests are flaky today
the branch has conflicts
the repo is private so I can't see it
the server returned 500
the api is returning nulls
the database is locked
the cluster is out of memory
the pipeline takes ages
merge is blocked
docs are out of date
docs are confusing
errors are everywhere
logs are empty
tickets are piling up
notes are attached
slides are in the thread
designs look good
there are two bugs in this function
there are three of them
there's one in the oven
there are five minutes left
we are three down
we are two nil up
it's 22 minutes
it takes me 10 minutes to load
flight's delayed
flight was fine
party was a blast
party's boring
exam was hard
exam went ok
interview went well
dentist was awful
haircut looks good
test failed
test passed on friday
lesson one is free
class was dull
game tonight?
match was rubbish
concert was amazing last night
drinks?
quiz was fun
trip was long
holiday's over
date was a disaster
no idea
no milk left
no shoes fit me
no smoking gun here
no meeting today
no one is here
no rush
size doesn't matter
size 12 is out of stock
rota's a mess
rota is missing
bins are overflowing
bins stink
rent went through
rent day sucks
key's stuck
keys are missing
shower's cold
fridge is empty
oven's on
oven's preheating
washing's done
laundry is done
dishwasher's done
heating is on
boiler is making noises
internet is being slow
landlord is useless
landlord is here
landlord called
plumber is here
plumber was late
cleaner did a good job
neighbour is drilling again
flatmate is loud
flatmate ate my food
sister is annoying me
brother said hi
gf is mad at me
bf is driving me mad
wife says hi
wife is happy
dad is snoring
dad says it's fine
gran is lovely
boss wants it by tomorrow
manager is out today
doctor was nice
teacher was late
team is tired
team won
our team is losing
our repo is a mess
our code is bad
my code is broken
my test is failing
my turn
my bad
my favourite is the blue one
my head hurts
my back is killing me
my laptop is slow today
my car won't start
my bus is here
my food is here
my room is freezing
my hair is a mess
my phone is on silent
my mic is broken
my camera is off
my battery is at 5
my editor is frozen
my shell is broken
my browser is open
my os is updating
my coffee is cold
my pizza is late
everyone tells Bob im vegan
she told him im allergic to nuts
nobody knew hes married
the girl hes called names before
some days im a mess
most mornings im a zombie
he acts like hes a doctor
in this outfit im a pirate
sometimes im an idiot
at this point im a ghost
honestly im a potato
today im a chef apparently
in the game im a wizard
book dentist friday
move the meeting to Thursday
book club was fun
no book club on mondays
the wifi box is a mess
fuse box is on fire
prod deploys are failing
release notes look good
spare time is rare
dinner is in the fridge
parcel is in the hall
team spirit is low in the office
one-pet house plants are cute
on nights like this
on call with Bob
off topic but nice
my boss's retired now I guess
her name's on the tip of my tongue
you got the job?
hate to say it
love is in the air
work at it
my gf is typing
kids are kids
rent is due, I know
takes 20 minutes
takes one to know one
no shoes in the house of pain
we are six feet under
we are five minutes in
there are four of them in the car
the default is dark mode right?
docs are in progress
errors are in the log
tickets are on sale
minutes are over
docs are on fire
I'm on board with that
my editor is crashing
my browser is slow
Bob's name is mud
captain is here
the chair of the meeting is late
took up arms
taken up all day
I don't eat anything before noon today
can't read anything here
I'm not one for nothing
when I was little I had dreams
when I was a kid everything was better
be my tour guide and I'm the tourist
oh I'm the best, didn't you know
my neighbour's cousin says that she is vegan
dr hale was great
call me a cab not a bus
hate mushrooms love olives
""".strip().splitlines()


@pytest.mark.parametrize("text", REFUSED)
def test_a_note_of_the_moment_is_not_kept(text: str) -> None:
    assert extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text))) == []
