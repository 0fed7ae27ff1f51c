"""The bot on Telegram, through the Bot API."""
