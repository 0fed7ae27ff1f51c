"""For every kind of secret that has a shape: what is refused, and near misses that are kept."""

import base64
import string

from tests.screening.secret_values import (
    BASE58,
    BASIC,
    JWT,
    LOWER_HEX,
    RED,
    UPPER,
    WALLET,
    pem,
    some,
)

HOOKS = "hooks.slack.com/services"

# kind: what is refused, what is kept.
SHAPED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "aws_access_key_id": (
        ("AK" + "IA" + some(16, UPPER),),
        ("AKIA is a prefix", "AK" + "IA" + "X" * 16),
    ),
    "aws_secret_key": (
        ("aws_secret_access_" + "key = " + some(40), "AWS secret " + some(40)),
        ("aws commit " + some(40, LOWER_HEX), "the secret of AWS is its price"),
    ),
    "google_api_key": (("AI" + "za" + some(35),), ("AI" + "za" + some(12), "AI" + "za" + "x" * 35)),
    "google_oauth_secret": (("GOC" + "SPX-" + some(28),), ("GOC" + "SPX-<secret>",)),
    "azure_storage_key": (("Account" + "Key=" + some(86) + "==",), ("Account" + "Key=<key>",)),
    "azure_client_secret": ((some(3) + "8Q" + "~" + some(34),), ("8Q~", "we sold 8Q~ish units")),
    "digitalocean_token": (("dop" + "_v1_" + some(64, LOWER_HEX),), ("dop_v1_" + "x" * 64,)),
    "cloud_token": (
        ("hv" + "s." + some(30), "dap" + "i" + some(32, LOWER_HEX)),
        ("hvs.example", "dapi is an interface"),
    ),
    "github_token": (
        ("gh" + "p_" + some(36), "github_" + "pat_" + some(60)),
        ("gh" + "p_" + "x" * 36, "ghp_ is how they begin"),
    ),
    "gitlab_token": (("gl" + "pat-" + some(20),), ("glpat-" + "x" * 20,)),
    "atlassian_token": (("ATA" + "TT3" + some(60),), ("ATATT3 is a prefix",)),
    "npm_token": (("np" + "m_" + some(36),), ("npm_config_registry", "npm_" + "x" * 36)),
    "pypi_token": (("py" + "pi-Ag" + some(60),), ("pypi-agent is a package",)),
    "registry_token": (("dckr" + "_pat_" + some(27),), ("dckr_pat_" + "x" * 27,)),
    "slack_token": (("xo" + "xb-" + some(40),), ("xoxo-hugs-and-kisses", "xoxb-" + "x" * 30)),
    "chat_webhook": (
        (f"https://{HOOKS}/T{some(8, UPPER)}/B{some(8, UPPER)}/{some(24)}",),
        (f"https://{HOOKS}/ is where they live",),
    ),
    "discord_token": (
        (base64.b64encode(b"7361736173617361736").decode()[:24] + "." + some(6) + "." + some(38),),
        ("My.domain.example", "N" + some(23) + "." + some(6) + "." + some(38)),
    ),
    "telegram_bot_token": (("736173617:" + "AA" + some(33),), ("at 12:30", "736173617:AAAA")),
    "stripe_key": (
        ("sk_" + "live_" + some(24),),
        ("pk_" + "live_" + some(24), "sk_live_" + "x" * 24),
    ),
    "payment_provider_key": (("shp" + "at_" + some(32, LOWER_HEX),), ("shpat_" + "0" * 32,)),
    "twilio_key": (
        ("S" + "K" + some(32, LOWER_HEX), "twilio auth token " + some(32, LOWER_HEX)),
        ("A" + "C" + some(32, LOWER_HEX),),
    ),
    "sendgrid_key": (("S" + "G." + some(22) + "." + some(43),), ("SG.example.org",)),
    "mail_provider_key": (
        ("ke" + "y-" + some(32, LOWER_HEX),),
        ("key-value-store", "key-" + "0" * 32),
    ),
    "tacit_key": (
        tuple("tc" + one + "_" + some(12) + "_" + some(43) for one in "tls"),
        ("tct_ is how they begin", "tc" + "t_" + "x" * 12 + "_" + "x" * 43),
    ),
    "anthropic_key": (("sk-" + "ant-api03-" + some(80),), ("sk-ant-" + "x" * 40,)),
    "openai_key": (
        ("sk-" + some(48), "sk-" + "proj-" + some(60), "sk-" + string.ascii_lowercase + "123456"),
        ("sk-folding-cube-container-large", "sk-" + "x" * 48, "sk-your-api-key-goes-here"),
    ),
    "huggingface_token": (("h" + "f_" + some(34),), ("hf_hub_download", "hf_" + "x" * 34)),
    "model_provider_key": (("gs" + "k_" + some(52),), ("gsk_ is how they begin",)),
    "tool_token": (("lin_" + "api_" + some(40),), ("lin_api_" + "x" * 40,)),
    "jwt": ((JWT,), ("eyJ is how they begin", JWT.rpartition(".")[0])),
    "wallet_private_key": ((WALLET,), (WALLET[:-1] + ("2" if WALLET[-1] != "2" else "3"),)),
    "extended_private_key": (
        ("xp" + "rv" + some(107, BASE58),),
        ("xp" + "ub" + some(107, BASE58),),
    ),
    "ssh_private_key": (
        (pem("OPENSSH PRIVATE KEY"),),
        ("ssh-ed25519 AAAAC3Nza" + some(55) + " bob@desk",),
    ),
    "pgp_private_key": ((pem("PGP PRIVATE KEY BLOCK"),), (pem("PGP PUBLIC KEY BLOCK"),)),
    "private_key": (
        (
            pem("RSA PRIVATE KEY"),
            pem("PRIVATE KEY", "\\n"),
            pem("EC PRIVATE\nKEY", "\n\n"),
            pem("PRIVATE KEY", " "),
        ),
        (pem("PUBLIC KEY"), pem("CERTIFICATE"), "it begins with BEGIN PRIVATE KEY"),
    ),
    "database_url": (
        (
            f"postgres://bob:{RED}@db/app",
            f"mongodb+srv://bob:{RED}@db.example",
            f"redis://:{RED}@localhost",
        ),
        ("postgres://localhost:5432/app", "mysql://bob@db/app", "amqp://bob:<password>@queue"),
    ),
    "url_password": (
        (f"https://bob:{RED}@example.com/x", f"ftp://bob:{RED}@files.example"),
        (
            "https://bob@example.com",
            "https://example.com:8080/@bob",
            "https://user:${PASS}@example.com",
        ),
    ),
    "connection_string": (
        (f"Server=db;User Id=sa;Password={RED};",),
        ("Server=db;Database=app;Trusted_Connection=True", "Server=db;Password=<password>;"),
    ),
    "totp_secret": (
        ("otpauth://totp/Acme:bob?secret=" + some(16, "ABCDEFGH234567")[:-1] + "7",),
        ("otpauth is a scheme",),
    ),
    "signed_url": (
        ("https://bucket.example/file?X-Amz-Signature=" + some(64, LOWER_HEX),),
        ("https://example.com/?signature=required", "https://example.com/?sig=1"),
    ),
    "url_token": (
        ("https://example.com/reset?token=" + some(24),),
        (
            "https://example.com/?code=summer",
            "https://example.com/?key=size",
            "https://youtu.be/x?t=42",
        ),
    ),
    "basic_authorization": (
        ("Authorization: Basic " + BASIC,),
        ("basic training starts", "Basic " + base64.b64encode(b"hello there").decode()),
    ),
    "bearer_token": (
        ("Authorization: Bearer " + some(32), "X-Api-Key: " + some(20)),
        ("Authorization: Bearer <token>", "the bearer of bad news", "Authorization: Bearer $TOKEN"),
    ),
    "session_cookie": (
        ("Cookie: sessionid=" + some(24), "PHPSESSID=" + some(26)),
        ("Cookie: I like chocolate", "the session id is missing"),
    ),
    "netrc_line": (
        (f"machine api.example.com login bob password {RED}",),
        ("machine learning login page password field",),
    ),
    "env_line": (
        (f"DB_PASSWORD={RED}", "export API_KEY=" + some(16)),
        (
            "DB_PASSWORD=${DB_PASSWORD}",
            "MAX_TOKENS=4096",
            "SECRET_KEY_FILE=/run/key",
            "API_KEY=your_api_key",
        ),
    ),
    "settings_line": (
        (f'{{"client_secret": "{RED}"}}', f"db_passwd: '{RED}'"),
        ('{"client_secret": "string"}', "my_secret: '<secret>'"),
    ),
    "command_password": (
        (
            f"curl -u bob:{RED} https://example.com",
            f"mysql -u root -p{RED}",
            f"backup --password {RED}",
        ),
        (
            "curl -u bob https://example.com",
            "mysql -u root -p",
            "run it with --password <password>",
        ),
    ),
    "password_hash": (
        ("$2" + "b$12$" + some(53),),
        ("it costs $2 or $12", "sha256 " + some(64, LOWER_HEX)),
    ),
}
