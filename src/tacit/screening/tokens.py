"""Secrets that a provider gives a shape of their own: keys of clouds, hosts, chats, payments."""

from __future__ import annotations

import base64
import binascii
import re

from tacit.screening.kind import END, START, SecretKind, random, shaped, varied


def _not_words(match: re.Match[str]) -> bool:
    """sk-folding-cube-container is a name in a style sheet."""
    parts = re.split("[-_]", match[1])
    return varied(match) and (random(match[1]) or any(_long_with_digits(one) for one in parts))


def _long_with_digits(part: str) -> bool:
    return len(part) >= 16 and not part.isalpha()


def _discord(match: re.Match[str]) -> bool:
    """The first part is the bot's number in base64."""
    part = match[1]
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).isdigit()
    except (binascii.Error, ValueError):
        return False


CLOUDS = (
    shaped(
        "aws_access_key_id",
        "An access key id of Amazon Web Services.",
        ("akia", "asia", "abia", "acca"),
        rf"{START}(?:AKIA|ASIA|ABIA|ACCA)([A-Z0-9]{{16}}){END}",
        varied,
    ),
    shaped(
        "aws_secret_key",
        "A secret access key of Amazon Web Services.",
        ("aws", "secret"),
        r"(?i:aws.{0,40}|secret.?access.?key.{0,20})[^A-Za-z0-9/+]([A-Za-z0-9/+]{40})"
        r"(?![A-Za-z0-9/+=])",
        lambda match: varied(match) and random(match[1]) and not _hex(match[1]),
    ),
    shaped(
        "google_api_key",
        "An API key of Google.",
        ("aiza",),
        r"(?<![A-Za-z0-9])AIza([A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])",
        varied,
    ),
    shaped(
        "google_oauth_secret",
        "A client secret or access token of Google.",
        ("gocspx-", "ya29."),
        r"(?<![A-Za-z0-9])(?:GOCSPX-|ya29\.)([A-Za-z0-9_-]{24,})",
        varied,
    ),
    shaped(
        "azure_storage_key",
        "An account or shared access key of Azure.",
        ("accountkey", "sharedaccesskey"),
        r"(?i:AccountKey|SharedAccessKey)\s*[=:]\s*([A-Za-z0-9+/]{40,88}={0,2})",
        varied,
    ),
    shaped(
        "azure_client_secret",
        "A client secret of Azure.",
        ("q~",),
        r"(?<![A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])",
        varied,
    ),
    shaped(
        "digitalocean_token",
        "A token of DigitalOcean.",
        ("_v1_",),
        rf"{START}do[oprt]_v1_([a-f0-9]{{64}}){END}",
        varied,
    ),
    shaped(
        "cloud_token",
        "A key of a cloud or its tools (Vault, Databricks, Alibaba, Heroku, Terraform, Doppler).",
        ("hvs.", "hvb.", "dapi", "ltai", "hrku-", ".atlasv1.", "dp.pt.", "dp.st."),
        rf"{START}(?:hv[sb]\.[A-Za-z0-9_-]{{24,}}|dapi[a-f0-9]{{32}}{END}|LTAI[A-Za-z0-9]{{17,21}}{END}"
        rf"|HRKU-[A-Za-z0-9_-]{{30,}}|[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_-]{{60,}}"
        r"|dp\.[ps]t\.[A-Za-z0-9.]{40,})",
        varied,
    ),
)

HOSTS = (
    shaped(
        "github_token",
        "A token of GitHub.",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        rf"{START}(?:gh[pousr]_|github_pat_)([A-Za-z0-9_]{{22,}})",
        varied,
    ),
    shaped(
        "gitlab_token",
        "A token of GitLab.",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-"),
        rf"{START}gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas)-([A-Za-z0-9_-]{{20,}})",
        varied,
    ),
    shaped(
        "atlassian_token",
        "A token of Atlassian or Bitbucket.",
        ("atatt3", "atbb"),
        rf"{START}(?:ATATT3[A-Za-z0-9_=-]{{40,}}|ATBB[A-Za-z0-9]{{32}})",
        varied,
    ),
    shaped(
        "npm_token", "A token of npm.", ("npm_",), rf"{START}npm_([A-Za-z0-9]{{36}}){END}", varied
    ),
    shaped(
        "pypi_token",
        "A token of PyPI.",
        ("pypi-ag",),
        rf"{START}pypi-Ag([A-Za-z0-9_-]{{50,}})",
        varied,
    ),
    shaped(
        "registry_token",
        "A token of a package or image registry (Docker, RubyGems, NuGet).",
        ("dckr_", "rubygems_", "oy2"),
        rf"{START}(?:dckr_[a-z]{{3}}_[A-Za-z0-9_-]{{27,}}|rubygems_[a-f0-9]{{48}}{END}"
        rf"|oy2[a-z0-9]{{43}}{END})",
        varied,
    ),
)

CHATS = (
    shaped(
        "slack_token",
        "A token of Slack.",
        ("xox", "xapp-"),
        rf"{START}(?:xox[abceoprs]|xapp)-([A-Za-z0-9-]{{20,}})",
        varied,
    ),
    shaped(
        "chat_webhook",
        "The address of a chat webhook: whoever has it can post there.",
        ("hooks.slack.com", "/api/webhooks/", "webhook.office.com"),
        r"hooks\.slack\.com/(?:services|workflows)/T[A-Za-z0-9]{6,}/[A-Za-z0-9/]{18,}"
        r"|discord(?:app)?\.com/api/webhooks/\d{15,20}/[A-Za-z0-9_-]{40,}"
        r"|webhook\.office\.com/webhookb2/[a-f0-9-]{36}@[A-Za-z0-9/@-]{40,}",
        varied,
    ),
    shaped(
        "discord_token",
        "A token of a Discord bot.",
        (".",),
        r"(?<![A-Za-z0-9_.-])([MNO][A-Za-z0-9_-]{22,27})\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}"
        r"(?![A-Za-z0-9_-])",
        _discord,
    ),
    shaped(
        "telegram_bot_token",
        "A token of a Telegram bot.",
        (":a",),
        r"(?<!\d)\d{8,10}:(A[A-Za-z0-9_-]{34})(?![A-Za-z0-9_-])",
        varied,
    ),
)

PAYMENTS_AND_MAIL = (
    shaped(
        "stripe_key",
        "A secret key of Stripe.",
        ("k_live_", "k_test_", "whsec_"),
        rf"{START}(?:[sr]k_(?:live|test)_|whsec_)([A-Za-z0-9+/]{{16,}})",
        varied,
    ),
    shaped(
        "payment_provider_key",
        "A key of a payment or shop provider (Square, Shopify, PayPal).",
        ("sq0", "shpat_", "shpca_", "shppa_", "shpss_", "access_token$production$"),
        rf"{START}(?:sq0(?:atp|csp)-[A-Za-z0-9_-]{{22,43}}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}{END}"
        r"|access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32})",
        varied,
    ),
    shaped(
        "twilio_key",
        "A key or auth token of Twilio.",
        ("sk", "twilio"),
        rf"{START}SK([0-9a-f]{{32}}){END}"
        rf"|(?i:twilio.{{0,20}}(?:auth|token|secret|key).{{0,15}}){START}([0-9a-f]{{32}}){END}",
        varied,
    ),
    shaped(
        "sendgrid_key",
        "A key of SendGrid.",
        ("sg.",),
        rf"{START}SG\.([A-Za-z0-9_-]{{22}}\.[A-Za-z0-9_-]{{43}})(?![A-Za-z0-9_-])",
        varied,
    ),
    shaped(
        "mail_provider_key",
        "A key of a mail provider (Mailgun, Mailchimp, Brevo).",
        ("key-", "-us", "xkeysib-"),
        rf"{START}(?:key-[0-9a-f]{{32}}{END}|[0-9a-f]{{32}}-us\d{{1,2}}{END}"
        r"|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16})",
        varied,
    ),
)

MODELS_AND_TOOLS = (
    shaped(
        "tacit_key",
        "A key to a memory like this one, or what signs somebody in there.",
        ("tct_", "tcl_", "tcs_"),
        rf"{START}tc[tls]_[A-Za-z0-9]{{12}}_([A-Za-z0-9_-]{{43}})",
        varied,
    ),
    shaped(
        "anthropic_key",
        "An API key of Anthropic.",
        ("sk-ant-",),
        rf"{START}sk-ant-([A-Za-z0-9_-]{{20,}})",
        varied,
    ),
    shaped(
        "openai_key",
        "An API key of OpenAI, or of a provider that writes keys like it.",
        ("sk-",),
        rf"{START}sk-((?!ant-)[A-Za-z0-9_-]{{20,}})",
        _not_words,
    ),
    shaped(
        "huggingface_token",
        "A token of Hugging Face.",
        ("hf_", "api_org_"),
        rf"{START}(?:hf_|api_org_)([A-Za-z0-9]{{34,40}}){END}",
        varied,
    ),
    shaped(
        "model_provider_key",
        "A key of a provider of language models (Groq, Replicate, Perplexity, xAI).",
        ("gsk_", "r8_", "pplx-", "xai-"),
        rf"{START}(?:gsk_[A-Za-z0-9]{{40,}}|r8_[A-Za-z0-9]{{37}}{END}|pplx-[A-Za-z0-9]{{40,}}"
        r"|xai-[A-Za-z0-9]{60,})",
        varied,
    ),
    shaped(
        "tool_token",
        "A token of a tool for work (Notion, Linear, Figma, Postman, Grafana, New Relic, Sentry).",
        ("ntn_", "lin_api_", "figd_", "pmak-", "glsa_", "nrak-", "sntrys_", "sntryu_"),
        rf"{START}(?:ntn_[A-Za-z0-9]{{40,}}|lin_api_[A-Za-z0-9]{{32,}}|figd_[A-Za-z0-9_-]{{30,}}"
        r"|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"
        r"|NRAK-[A-Z0-9]{27}|sntry[su]_[A-Za-z0-9+/=_-]{40,})",
        varied,
    ),
)


def _hex(value: str) -> bool:
    return all(char in "0123456789abcdefABCDEF" for char in value)


TOKENS: tuple[SecretKind, ...] = (
    *CLOUDS,
    *HOSTS,
    *CHATS,
    *PAYMENTS_AND_MAIL,
    *MODELS_AND_TOOLS,
)
