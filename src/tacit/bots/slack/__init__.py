"""The bot on Slack: signed requests come in, calls of the Web API go out."""
