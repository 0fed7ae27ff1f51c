"""For every kind of secret: what is refused, and near misses that are kept."""

from tests.screening.secret_shapes import SHAPED
from tests.screening.secret_values import (
    ACCOUNT,
    AMEX,
    BLUE,
    LOWER_HEX,
    RED,
    SEED,
    VISA,
    card,
    iban,
    some,
    spaced,
)

STATED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "payment_card": (
        (
            VISA,
            spaced(VISA),
            spaced(VISA, "-"),
            f"{AMEX[:4]} {AMEX[4:10]} {AMEX[10:]}",
            " ".join(VISA),
            card("5555", 16),
            card("6011", 16),
            card("3530", 16),
            f"Bob,{VISA},12/27",
            spaced(VISA, "\n"),
        ),
        (
            VISA[:-1] + str((int(VISA[-1]) + 1) % 10),
            "order 1234567890123456",
            "ISBN 978-3-16-148410-0",
            "call +49 170 1234567",
            "the card ends in 4242",
            "IMEI 356938035643809",
            "id 1700000000000",
        ),
    ),
    "iban": (
        (ACCOUNT, spaced(ACCOUNT), spaced(ACCOUNT).lower(), iban("GB", "WEST12345698765432")),
        (ACCOUNT[:-1] + "9", "DE89", "my IBAN is at home", "AB12 CDE 3456 7890"),
    ),
    "us_ssn": (
        ("123-45-" + "6789", "my SSN: 123" + "456789", "ssn 123 45 " + "6789"),
        (
            "000-45-6789",
            "555-123-4567",
            "order 123-45-" + "6789",
            "123-45-67890",
            "my SSN is private",
        ),
    ),
    "seed_phrase": (
        (
            f"my seed phrase is {SEED}",
            "recovery phrase: "
            + " ".join(f"{place}. {word}" for place, word in enumerate(SEED.split(), 1)),
        ),
        (
            "my seed phrase is in a vault that nobody but the bank and my wife can open",
            f"I like {SEED}",
        ),
    ),
    "wifi_password": (
        (
            "the wifi password is trout99",
            "WLAN-Passwort: Apfelkuchen",
            "WIFI:T:WPA;S:home;P:trout99;;",
        ),
        ("the wifi password is on the fridge", "Das WLAN-Passwort steht auf dem Router"),
    ),
    "card_security_code": (
        ("my CVV is 123", "CVC: 4567"),
        ("my CVV is worn off", "CVV has 3 digits"),
    ),
    "one_time_code": (
        (
            "your verification code is 123456",
            "G-123456 is your Acme code",
            "Der Bestätigungscode lautet 445566",
            "OTP: 884422",
            "Use 884422 as your login code",
            "backup codes: a1b2-c3d4 e5f6-a7b8",
            "Die TAN ist 445566",
        ),
        ("the verification code never came", "my booking code is XK34PQ", "OTP is annoying"),
    ),
    "pin_code": (
        (
            "PIN is 4711",
            "The code for the front door is 4711",
            "Der Code für die Tür ist 4711",
            "The safe code is 12-34-56",
            "my bank card pin is 0815",
            "meine PIN ist 4711",
            "The door code is 2580#",
            "Geheimzahl 1234",
        ),
        (
            "pin 7 is ground",
            "My PIN has 6 digits",
            "my pin code is 560001, Bangalore, India",
            "code 4711 is a scent",
        ),
    ),
    "stated_password": (
        (
            f"my password is {RED}",
            f"pw: {RED}",
            f"I changed my password to {RED}",
            f"my password's {RED}",
            f"Ich habe mein Passwort auf {BLUE} geändert",
            "my password is swordfish",
            f"the password for Acme is {RED}",
            f"{RED} is my password",
            f"Mein Passwort ist {BLUE}",
            "mein Kennwort lautet Blumentopf",
            f"user bob password {RED}",
            'the password is "open sesame"',
            "my password is correct horse battery staple",
            f"mi contraseña es {RED}",
        ),
        (
            "I forgot my password",
            "my password manager is Bitwarden",
            "the password must have 8 characters",
            "my password is expired",
            "My password is 12 characters long",
            "what is my password?",
            "password: ********",
            "the password was changed on 2024-05-01",
            "Mein Passwort ist abgelaufen",
            "I use 1Password for all passwords",
        ),
    ),
    "login_pair": (
        (f"login: bob / {RED}2", f"Zugangsdaten: bob / {BLUE}"),
        ("login: bob@example.com", "my login is bob"),
    ),
    "labelled_secret": (
        ("the api key is " + some(20), "my secret: " + some(24), "token = " + some(32, LOWER_HEX)),
        (
            "the secret is butter",
            "the key is under the mat",
            "public key: " + some(40),
            "next page token: " + some(24),
            "commit " + some(40, LOWER_HEX),
            "the token count was 123456789012345678",
        ),
    ),
}

CASES = SHAPED | STATED
