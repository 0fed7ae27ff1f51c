"""More changes, from people who chat, report and reminisce."""

import pytest

from tests.learning.corrections import amended, pairs

PAIRS = """
Kim is reading Middlemarch for book club | I gave up on Middlemarch, I'm on Rebecca now.
Kim is having the kitchen done in May 2026 | The kitchen's been put back to September.
Kim cannot drive | I've passed my test!
Kim's pronouns are she/her | my pronouns are they/them now
Kim hates maths | maths is my fave now
Kim does drama club on 17 June 2025 | quit drama club
Kim's dog is a pug | my dogs a beagle i meant
Kim lives w Kim's mum | living w my dad now
Kim has braces | got my braces off
Kim is in set 3 for maths | moved up to set 2
Office hours are 9 to 5 | Office hours are 10 to 6 from July.
Kim's CTO is Rana | Rana stepped down, Felix is CTO.
The budget is 40k | Budget got cut to 30k.
Staging is at stage.acme.dev | Staging has moved to staging.acme.io.
The API limit is 100 requests per minute | They raised the API limit to 250.
Kim reviews PRs on Mondays | I don't do reviews on Mondays anymore, Wednesdays now.
Kim is the scrum master | Yusuf is the scrum master as of today.
The offsite is in Lisbon | We had to switch the offsite to Porto.
Kim's badge number is 5521 | New badge, number 6610.
Kim has 12 customers | We just hit 20 customers.
The contract runs to March | Contract was extended to December.
Kim is out of office until 16 June 2025 | I'm back in the office already.
Vendor is Kestrel | We dropped Kestrel, vendor is Osprey.
Kim sings in the church choir | I no longer sing in the choir, my voice is gone.
Kim's pension is paid on the 15th of the month | The pension comes on the 20th these days.
Kim's carer is Joy | Joy has gone back to Ghana, my carer is Precious.
Kim's late husband's brother Alf lives in Perth | Alf passed away in March.
The bridge club is on Monday afternoons | Bridge is Tuesday afternoons since the hall was let.
Kim has meals on wheels | I stopped the meals on wheels.
Kim gets about with a stick | I've a frame now, not the stick.
Kim is living in Krakow | I am living now in Gdansk.
Kim's visa is valid to May | I extended visa to November.
Kim sends money home each month | I don't need to send money home any more.
Kim works in warehouse | I found job in bakery.
Kim's bike is stolen | Police found my bike.
Kim lives in bolton | moved to bury
Kim works at asda | got the sack from asda
Kim works at asda | asda let me go
Kim's bike is a blue ribble | flogged the bike
Kim's missus is called jen | jen left me
Kim is on earlies in the week of 9 June 2025 | swapped to lates
Kim's gaffer is phil | phil got the boot its now terry
Kim takes milk and 1 sugar | off sugar
Kim's reg is AB12 CDE | new reg is FG34 HIJ
Zara goes to Elm Grove nursery | We took Zara out of Elm Grove, she's at Bluebells.
Ruby's ballet is on Saturdays at ten | Ruby's ballet class has gone to Sundays at nine.
Finn's teacher is Mrs Okafor | Finn's got a new teacher, Mr Lyle.
Kim flies to Faro on 3 August 2025 | The airline moved our Faro flight to 4 August.
Kim's goldfish is called Bubbles | Bubbles has died.
Kim cannot stand cats | I've become a total cat lady.
Kim's dad lives alone in the big house | Dad's moved in with my sister.
Kim's nanny is Elena | Elena's gone back to Romania and Marta is our nanny.
The christening is at noon | The christening's been moved to one o'clock.
Sam does karate on Wednesdays | Sam's packed in karate.
Kim has an old Astra | The Astra died and we bought a Juke.
Poppy is four | Poppy's five now!
Kim has two sugars | I only have one sugar now.
Kim's kitten is called Socks | We call the kitten Mittens now.
Kim's brother Joe is in Dubai | Joe's moved back to Leeds.
Max's favourite film is Cars | Max's favourite film is Up these days.
Kim is a school governor | I've stood down as a governor.
Sports day is on 12 June 2025 | Sports day is Friday, not Thursday.
Kim has a window cleaner every month | We've stopped the window cleaner.
Kim's dentist is Mr Shaw | Mr Shaw's retired and we see Miss Dean.
Ella cannot ride a bike | Ella can ride a bike!
Kim's sprint is two weeks long | Sprints are three weeks long now.
Kim deploys from main | We deploy from release now.
Kim's monitor is a Dell | They replaced my Dell with an LG.
Kim is on the search team | I've joined the ads team.
Prod runs Redis 6 | Prod is on Redis 7 now.
The service is called atlas | We renamed the service to orion.
Kim's manager is Petra | Petra left, I report to Jonas.
The build takes 12 minutes | The build is down to 5 minutes.
Kim uses Jenkins | We replaced Jenkins with GitHub Actions.
The launch is on 5 September 2025 | Launch got pushed to 19 September.
Kim likes Scrum | I've gone off Scrum.
Kim works for Zalando | My last day at Zalando was Friday.
Planning is on Mondays at 10:00 | Planning is at 11:00 now.
Kim is on Django 4 | We upgraded to Django 5.
There are eight people in the team | We are nine people now.
The certificate expires on 1 July 2025 | The certificate was renewed until 1 October.
Kim's 1:1 is on Tuesdays | The 1:1 is Wednesdays now.
Sven maintains the docs | Nadia took over the docs from Sven.
Kim works from Berlin | I work from Porto these days.
Kim's plot is number 7 | The council gave me number 12 instead of 7.
The WI meets on the first Tuesday | The WI meets on the second Tuesday now.
Kim plays the organ at St Mary's | I've given up the organ.
Kim has three grandchildren | I have four grandchildren now.
Kim does tai chi on Thursdays | I don't do tai chi any longer.
The secretary of the club is Mavis | Brenda is secretary of the club now.
Kim's grandson is at Exeter | My grandson's left Exeter.
Kim takes aspirin | I've been taken off aspirin.
Kim does not like opera | I like opera now.
Kim's eye test is on 9 May 2026 | They've changed my eye test to 16 May.
Kim's blue badge is valid until June | My blue badge ran out.
Mr cole is Kim's form tutor | miss wray is my form tutor now
Mock exam is on 16 June 2025 | mock exam's been moved to thursday
Kim lives in unite halls | moved out of halls
Kim is doing grade 5 piano | passed grade 5, on grade 6 now
Kim is captain of the netball team | Jas is captain now
Kim swims on sundays | given up swimming
Recycling goes out on Mondays | recycling is Tuesday now
Rent is 600 each | rent's 650 each from July
Kim's landlady is Mrs Kaya | Mrs Kaya sold up, landlord is Mr Tan
Ben is on bins in the week of 9 June 2025 | Ben's away so Kat's on bins
Kim is with Octopus for electric | changed our electric to EDF
Kim has the small room | swapped rooms with Kat, I've got the big one
Film night is at Kat's | film night's at ours instead
Kim pays Kat for the wifi | I pay Ben for the wifi now
Kim has a gardener | the gardener quit
The chat is called Flat 9 | chat's called Nine Lives now
Kim loves the new curtains | changed my mind, hate the new curtains
Disney is on Kat's account | Disney's on my account now
Kim works in a call centre | quit the call centre
Kim got a fiat 500 | sold the fiat
Kim vapes | stopped vaping
Kim's tablet is an ipad | swapped the ipad for a galaxy
Kim has choir on mondays | choir moved to tuesdays
Kim is 19 | im 20 now
Kim is going to a gig in May 2026 | gig's cancelled
Kim's email is ffi@x.com | my email's now ffi@y.com
Theo is in reception at St Luke's | Theo has moved up to Year 1.
Kim is working part-time at the bakery | I've left the bakery, I work at the florist's now.
Maya's piano teacher is Mrs Webb | Mrs Webb has retired and Maya has Mr Finch for piano.
Kim is going to Devon on 26 July 2025 | Change of plan, we're going to Devon on 2 August.
Kim has two guinea pigs, Salt and Pepper | Salt died, so it's just Pepper now.
Kim's cleaner is Dorota | Dorota has left us and Ilona cleans for us now.
The fete starts at two | The fete starts at one instead.
Noah plays rugby on Sundays | Noah has stopped playing rugby.
Kim's car is a Passat | We traded in the Passat for a Kia.
Maya is nine | Maya is ten now.
Kim's rabbit is called Snowy | The rabbit's called Cloud now, Maya insisted.
Kim's sister Kate lives in Hull | Kate's moved to Whitby.
Kim runs the tombola at the school fete | I don't run the tombola any more.
Parents' evening is on 16 June 2025 | Parents' evening has been moved to Tuesday.
Kim gets an organic veg box | We've stopped the veg box.
Kim's vet is Mr Hart | We changed vets, it's Ms Ley now.
Kim's weekly sync is at 11:00 | The weekly sync is at 11:30 starting Monday.
Kim releases on Thursdays | Releases are on Tuesdays now.
Kim uses Emacs | I use Neovim now.
Kim's laptop is a Dell XPS | I got a Framework to replace the Dell.
Kim is on the infra team | I transferred to the data team.
Kim runs Kubernetes 1.27 | We're on Kubernetes 1.30 now.
The project is called Falcon | Falcon is now called Merlin.
Kim's team lead is Anja | Lukas is my team lead now.
Kim owns the billing service | Priya owns the billing service now.
Test coverage is 71% | Coverage is up to 80%.
Docs are in Confluence | Docs moved to Notion.
The demo is on 12 June 2025 | The demo was postponed to 19 June.
Kim dislikes Rust | I really like Rust now.
The review is on 18 June 2025 at 14:00 | Sorry, the review is on Thursday.
Kim is on Java 17 | We moved to Java 21.
Kim's mentor is Olaf | Olaf moved on, Greta mentors me now.
Kim is drafting the proposal | I finished the proposal.
The office is on the 4th floor | The office is on the 6th floor now.
Kim works from Kraków | I work in Wrocław now.
The quilting group meets on Fridays | Quilting is on Mondays now.
Kim plays the recorder | I've stopped playing the recorder.
Kim has one canary | I have two canaries now.
Kim goes to the lunch club | I don't go to the lunch club any more.
The captain of the bowls club is Ron | Eric took over from Ron as captain of the bowls club.
Kim's granddaughter is at Bath | My granddaughter has graduated.
Kim takes statins | The doctor stopped my statins.
Kim does not care for tennis | I have come to enjoy tennis.
Kim's cataract appointment is on 8 July 2025 | The appointment has been changed to the 15th.
Kim's railcard runs until May 2026 | My railcard has run out.
Kim's neighbour is Mr Pugh | Mr Pugh has died and my neighbour is Mrs Lal.
"""


@pytest.mark.parametrize(("before", "after"), pairs(PAIRS))
def test_a_change_told_in_passing_is_heard(before: str, after: str) -> None:
    assert amended(before, after, "en") is not None
