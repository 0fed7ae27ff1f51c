"""What a speaker says of others: kept where it is plain and they are named, as hearsay."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules

NOW = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)  # a Sunday

HEARSAY = [
    ("My wife Sarah is a nurse", ["Alice's wife Sarah is a nurse"]),
    ("Bob's birthday is 12 June", ["Bob's birthday is 12 June"]),
    ("Bob is allergic to nuts", ["Bob is allergic to nuts"]),
    ("Bob told me he's vegan", ["Bob is vegan"]),
    ("@bob loves pizza", ["@bob loves pizza"]),
    (
        "My sister lives in Rome and my brother lives in Oslo",
        ["Alice's sister lives in Rome", "Alice's brother lives in Oslo"],
    ),
    ("My mum has diabetes", ["Alice's mum has diabetes"]),
    (
        "my daughter Emma turns 7 next Saturday",
        ["Alice's daughter Emma turns 7 on 21 November 2026"],
    ),
    (
        "My sister Anna is a doctor. She lives in Vienna.",
        ["Alice's sister Anna is a doctor", "Alice's sister Anna lives in Vienna"],
    ),
    ("Anna and Tom got married last year", ["Anna and Tom got married in 2025"]),
    ("my boss Alec is leaving in December", ["Alice's boss Alec is leaving in December 2026"]),
    ("My wife's birthday is on 3 March", ["Alice's wife's birthday is on 3 March"]),
    ("my kids' school starts at 8", ["Alice's kids' school starts at 8"]),
    (
        "Sarah moved to the Design team last week",
        ["Sarah moved to the Design team in the week of 2 November 2026"],
    ),
    ("Bob works at Siemens", ["Bob works at Siemens"]),
    ("My dad died last year", ["Alice's dad died in 2025"]),
    ("Bob said he is moving to Canada in July", ["Bob is moving to Canada in July 2027"]),
    (
        "My son Jonas started school in September",
        ["Alice's son Jonas started school in September 2026"],
    ),
    (
        "My mother-in-law is visiting us next weekend",
        ["Alice's mother-in-law is visiting Alice on the weekend of 21 November 2026"],
    ),
    (
        "Our daughter Lina was born on 14 February 2024",
        ["Alice's daughter Lina was born on 14 February 2024"],
    ),
    ("my husband works at BMW", ["Alice's husband works at BMW"]),
    (
        "My sister is getting married on 5 June",
        ["Alice's sister is getting married on 5 June 2027"],
    ),
    ("my brother Tom lives in Dublin", ["Alice's brother Tom lives in Dublin"]),
    ("My parents live in Hamburg", ["Alice's parents live in Hamburg"]),
    (
        "my grandmother turned 90 last week",
        ["Alice's grandmother turned 90 in the week of 2 November 2026"],
    ),
    ("Tom hates olives", ["Tom hates olives"]),
    ("Priya is vegetarian", ["Priya is vegetarian"]),
    ("Lena's birthday is on the 9th of May", ["Lena's birthday is on the 9th of May"]),
    ("Marco moved to Milan", ["Marco moved to Milan"]),
    ("I heard Julia is pregnant", ["Julia is pregnant"]),
    ("Jonas told me that he quit his job", ["Jonas quit Jonas' job"]),
    ("Ben mentioned he's allergic to cats", ["Ben is allergic to cats"]),
    ("Sarah works for the city council", ["Sarah works for the city council"]),
    ("my ex-wife lives in Madrid", ["Alice's ex-wife lives in Madrid"]),
    ("my dad's a pilot", ["Alice's dad is a pilot"]),
    ("my moms name is helga", ["Alice's mom's name is helga"]),
    ("make a note that Anna is bringing the cake", ["Anna is bringing the cake"]),
    ("Remember my mother's maiden name is Huber", ["Alice's mother's maiden name is Huber"]),
    (
        "My wife just got a job at the European Space Agency",
        ["Alice's wife just got a job at the European Space Agency"],
    ),
    ("my brother has type 2 diabetes", ["Alice's brother has type 2 diabetes"]),
    ("Nadia doesn't eat pork", ["Nadia does not eat pork"]),
    ("Omar is a surgeon", ["Omar is a surgeon"]),
    ("Kim is turning 30 on Saturday", ["Kim is turning 30 on 21 November 2026"]),
    ("Our neighbor Mrs. Jensen is 92", ["Alice's neighbor Mrs Jensen is 92"]),
    ("Tom's wife is expecting", ["Tom's wife is expecting"]),
    ("My kids are 4 and 7", ["Alice's kids are 4 and 7"]),
    ("our son is in second grade", ["Alice's son is in second grade"]),
    ("my daughter plays the violin", ["Alice's daughter plays the violin"]),
    ("my son loves dinosaurs", ["Alice's son loves dinosaurs"]),
    (
        "Remember: my daughter is allergic to penicillin",
        ["Alice's daughter is allergic to penicillin"],
    ),
    ("note: Ben is lactose intolerant", ["Ben is lactose intolerant"]),
    ("Anna can't come on Sunday", ["Anna cannot come on 22 November 2026"]),
    ("Lisa is moving to Denmark in spring", ["Lisa is moving to Denmark in spring 2027"]),
    ("Peter got promoted", ["Peter got promoted"]),
    ("Julia broke up with Max", ["Julia broke up with Max"]),
    ("My dad had a stroke last year", ["Alice's dad had a stroke in 2025"]),
    ("my mum passed away in 2019", ["Alice's mum passed away in 2019"]),
    ("My cousin Vikram is a lawyer in Mumbai", ["Alice's cousin Vikram is a lawyer in Mumbai"]),
    ("My aunt lives in Canada", ["Alice's aunt lives in Canada"]),
    ("My grandparents are from Sicily", ["Alice's grandparents are from Sicily"]),
    ("my sister anna is a vet", ["Alice's sister anna is a vet"]),
    ("bob is allergic to bees", ["Bob is allergic to bees"]),
    (
        "Remember that Sarah's flight lands at 18:40 on Sunday",
        ["Sarah's flight lands at 18:40 on 22 November 2026"],
    ),
    ("don't forget: Leo has swimming on Wednesdays", ["Leo has swimming on Wednesdays"]),
    ("Keep in mind my mother doesn't speak English", ["Alice's mother does not speak English"]),
    (
        "My husband Erik is diabetic and our son has asthma",
        ["Alice's husband Erik is diabetic", "Alice's son has asthma"],
    ),
    (
        "My mother is from Kerala and my father is from Goa",
        ["Alice's mother is from Kerala", "Alice's father is from Goa"],
    ),
    ("My sister Ida just had a baby boy", ["Alice's sister Ida just had a baby boy"]),
    (
        "my best mate Callum is getting married in August",
        ["Alice's best mate Callum is getting married in August 2027"],
    ),
    ("My niece Zara turned 3 yesterday", ["Alice's niece Zara turned 3 on 14 November 2026"]),
    ("Our son's graduation is on June 20", ["Alice's son's graduation is on 20 June 2027"]),
    ("My parents arrive on Thursday", ["Alice's parents arrive on 19 November 2026"]),
    ("Dan and Priya are getting divorced", ["Dan and Priya are getting divorced"]),
    (
        "Maya told us she's moving to Lisbon in January",
        ["Maya is moving to Lisbon in January 2027"],
    ),
    ("I heard from Tom that Ben lost his job", ["Ben lost Ben's job"]),
    ("According to Lisa, Mark is allergic to wasps", ["Mark is allergic to wasps"]),
    ("Omar's new number is 06 12345678", ["Omar's new number is 06 12345678"]),
    ("Lena's kids are called Tim and Nele", ["Lena's kids are called Tim and Nele"]),
    ("Jonas is Lena's husband", ["Jonas is Lena's husband"]),
    ("Fatima leads the data team", ["Fatima leads the data team"]),
    ("Wei speaks Mandarin and Cantonese", ["Wei speaks Mandarin and Cantonese"]),
    ("Sven hates surprises", ["Sven hates surprises"]),
    ("Petra can't have gluten", ["Petra cannot have gluten"]),
    ("Nils is afraid of dogs", ["Nils is afraid of dogs"]),
    ("Yuki plays the cello", ["Yuki plays the cello"]),
    (
        "I have a gluten allergy and my partner is vegan",
        ["Alice has a gluten allergy", "Alice's partner is vegan"],
    ),
    ("My partner Alex works in IT", ["Alice's partner Alex works in IT"]),
    (
        "My brother and his wife live in Perth",
        ["Alice's brother and Alice's brother's wife live in Perth"],
    ),
    ("My husband's parents live in Leeds", ["Alice's husband's parents live in Leeds"]),
    (
        "My oldest daughter, Hanna, studies biology in Uppsala",
        ["Alice's oldest daughter Hanna studies biology in Uppsala"],
    ),
    ("My dad has Parkinson's", ["Alice's dad has Parkinson's"]),
    ("My mum is in a care home", ["Alice's mum is in a care home"]),
    ("My uncle is in prison", ["Alice's uncle is in prison"]),
    (
        "My new boss starts on Monday, her name is Petra",
        ["Alice's new boss starts on 16 November 2026", "Alice's new boss' name is Petra"],
    ),
    ("My sister's birthday is June 12, don't forget!", ["Alice's sister's birthday is June 12"]),
    ("my eldest starts school in August", ["Alice's eldest starts school in August 2027"]),
    (
        "our daughter is getting her braces off on Friday",
        ["Alice's daughter is getting Alice's daughter's braces off on 20 November 2026"],
    ),
    ("My parents are divorced", ["Alice's parents are divorced"]),
    (
        "my parents are visiting from Ohio next week",
        ["Alice's parents are visiting from Ohio in the week of 16 November 2026"],
    ),
    ("My roommate's cat is called Pickles", ["Alice's roommate's cat is called Pickles"]),
    ("My wife doesn't drink", ["Alice's wife does not drink"]),
    ("Ahmed doesn't drink alcohol", ["Ahmed does not drink alcohol"]),
    ("Lena is off sick this week", ["Lena is off sick in the week of 9 November 2026"]),
    ("Tom's flight gets in at 9pm on Friday", ["Tom's flight gets in at 9pm on 20 November 2026"]),
    ("Tom is in charge of catering", ["Tom is in charge of catering"]),
    ("Mia is my daughter's best friend", ["Mia is Alice's daughter's best friend"]),
    ("Zoe and Max are twins", ["Zoe and Max are twins"]),
    ("Zoe is engaged to Max", ["Zoe is engaged to Max"]),
    ("Zoe got a new job at KLM", ["Zoe got a new job at KLM"]),
    ("Zoe's dad passed away last week", ["Zoe's dad passed away in the week of 2 November 2026"]),
    ("Nora said her son is autistic", ["Nora's son is autistic"]),
    ("Priya says she's not coming on Friday", ["Priya is not coming on 20 November 2026"]),
    ("Jan mentioned that he has two kids", ["Jan has two kids"]),
    ("Ravi used to work at Intel", ["Ravi used to work at Intel"]),
    (
        "Can you recommend a restaurant? My wife is vegan and I'm allergic to shellfish.",
        ["Alice's wife is vegan", "Alice is allergic to shellfish"],
    ),
    (
        "I need a recipe for tonight. My kids don't eat mushrooms.",
        ["Alice's kids do not eat mushrooms"],
    ),
    (
        (
            "Plan a trip to Japan for us: we're two adults and two kids, and my husband uses "
            "a wheelchair."
        ),
        ["Alice's husband uses a wheelchair"],
    ),
    (
        "My sister's wedding is on 5 June, and her fiancé is called Piet",
        ["Alice's sister's wedding is on 5 June 2027"],
    ),
    ("remember: Leo's teacher is called Mrs. Brandt", ["Leo's teacher is called Mrs. Brandt"]),
    (
        "Bob is moving to Canada in July, he told me yesterday",
        ["Bob is moving to Canada in July 2027"],
    ),
    (
        "guess what, Julia and Mark are getting married in May!",
        ["Julia and Mark are getting married in May 2027"],
    ),
    ("@sam is allergic to peanuts btw", ["@sam is allergic to peanuts"]),
    ("fyi @lena prefers to be contacted by email", ["@lena prefers to be contacted by email"]),
]


@pytest.mark.parametrize(("text", "contents"), HEARSAY)
def test_what_is_said_of_others_is_kept_as_hearsay(text: str, contents: list[str]) -> None:
    assert [
        found.content for found in extract_by_rules(text, "Alice", NOW, load_locale("en"))
    ] == contents


@pytest.mark.parametrize("text", [text for text, _ in HEARSAY])
def test_hearsay_is_marked_and_names_whom_it_is_about(text: str) -> None:
    found = [one for one in extract_by_rules(text, "Alice", NOW, load_locale("en")) if one.hearsay]
    assert found
    assert all(one.about and not one.about_speaker for one in found)
