"""The bot on Slack: requests that Slack signs come in, calls of its Web API go out."""
