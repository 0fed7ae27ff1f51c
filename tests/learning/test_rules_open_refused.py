"""Talk that looks like a statement: moods, moves of a game, steps that fail, idioms, titles."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)  # a Wednesday

REFUSED = """
I'm so tired today
I'm bored, entertain me
I just woke up
I'm on my way
I see, thanks
I guess that works
I have no idea
I have a question
I need a coffee
I need a table with three columns
I want a shorter version
I want the second one in blue
I'm watching the new season right now
I'm making dinner
I'm reading your answer
I love it
I get it
I got it
I take it back
I take your point
I made it!
I found it, never mind
I lost my train of thought
I ran the tests and they pass
I get an error when I run npm install
My code doesn't compile
The build is failing
The answer is wrong
The weather is nice
The game was amazing
the link is dead
the file is attached
My bad
My point is that it scales
My question is about taxes
my guess is Tuesday
Everyone has a phone now
You have a good memory
You write well
She said she was tired
Most cats hate water
Dogs are loyal
Every engineer uses git
Would I move to Oslo? maybe
I wish I lived by the sea
I could eat a horse
I might move next year
I should exercise more
I feel like dancing
I feel sick
I look terrible today
I mean it
I know, right
I agree with Tom
I appreciate the help
I always say better late than never
I never want to see that movie again
I've never seen anything like it
I have never been so embarrassed
I'm kidding
I am literally a potato
I'm a genius, it worked
I'm an idiot
I am the king of procrastination
I'm all ears
I'm in
I'm not sure
I'm here
I'm glad you asked
I'm looking at the chart
I'm trying to fix the printer
I can't believe it
I can't open the file
I can see that
We lost, again
We had a great time
I had pizza for lunch
I saw a fox this morning
I went to bed late
I ate too much
I finished the report
I left a comment in the doc
I sent you the file
I set the variable to zero
I played it twice already
Great, I love meetings that could be emails
oh sure, I have all the time in the world
My character owns a tavern
Let's say I have three kids
Write a poem about my cat
Tell me about Lisbon
translate: I live in Rome
The first option is better
the train is late
dinner is ready
lunch was great
Nobody reads the manual
It starts at nine
that has nothing to do with it
This one is mine
Tom is funny
Tom agrees
Anna laughed
My sister is here
My boss is annoying today
Bob is typing
Bob left the chat
The first chapter introduces Emma
Paris is lovely in spring
Berlin has great techno clubs
Shakespeare wrote Hamlet
water boils at 100 degrees
I use this prompt every time
I was wondering about that
I was just about to ask
I stand corrected
I beg to differ
I have to go
I have to admit it's good
I keep forgetting the syntax
I owe you one
I bet it rains
I swear it worked yesterday
I promise I'll try
We are good
We are almost there
Our chat is fun
my turn
I take full responsibility for that joke
I work hard, I play hard
I own this game lol
I speak fluent sarcasm
I have two brain cells left
I have a feeling it's Monday
I have a dream that one day
I am so over this week
I'm back
I'm confused by step 2
I'm getting a 404
I started the server but nothing happens
I moved the button to the left
I joined the call
I quit the app and restarted
I wrote a function that sorts
I switched tabs
I studied the docs, no luck
I'm stuck in traffic
I ran out of milk
I have 10 minutes
I have a meeting in five
We have a winner
We have a problem
I have the same issue
I have it on good authority
I had a dream about a whale
I had the best tacos yesterday
I'm so hungry I could eat a horse
I'm at the airport
I'm in the kitchen
I'm on page 30
I'm for it
I'm against it
I'm off to bed
I'm a bit under the weather
I'm a sucker for puns
I'm a disaster in the kitchen lol
I'm a big fan of how you phrase things
I am Groot
I'm gonna make some tea
I'm going to try that
I'm about to leave
I'm using the free plan, how do I upgrade?
I'm getting rate limited
I'm seeing a weird flicker on the page
I work on it
I work out the numbers later
I use a for loop but it doesn't stop
I use a lookup table here, is that ok?
I write the file, then read it back
I read the article you linked
I read somewhere that bees sleep
I watch the progress bar
I watch too much TV
I play the fool
I drive people crazy
I eat problems for breakfast
I drink to that
I sleep when I'm dead
I live and learn
I live rent free in his head
I speak from experience
I speak for everyone here
I make bad decisions
I make the rules
I make no promises
I run this town
I run the script with sudo
I take that as a compliment
I take the blame
I take no prisoners
I keep it simple
I keep an open mind
I own it
I own you
I wear my heart on my sleeve
I grow tired of this
I grow impatient
I cook up a plan
I support that idea
I support you
I believe in you
I believe the answer is 12
I save the file and nothing happens
I pay attention
I carry on
I serve at your pleasure
I share your concern
I split the string on commas
I train the model for 10 epochs
I host the site on a static bucket and the css is missing
I sit here and wonder
We rock
We live in a society
We use the formula from above
We eat first, then talk
We drove for hours
We got lucky
We got there in the end
We started late
We bought it
We lost power
We broke up the task into steps
I broke the build
I lost an hour on this
I lost my keys again, ugh
I started over
I joined a zoom call
I left early
I left it on the table
I named the variable foo
I finished chapter 3
I passed the test suite
I won the argument
I wrote you a letter
I set it to dark
I changed the color to red
I changed my mind
I sold my soul for this ticket
""".strip().splitlines()


@pytest.mark.parametrize("text", REFUSED)
def test_what_passes_is_not_kept(text: str) -> None:
    assert extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text))) == []
