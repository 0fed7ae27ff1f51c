"""The pages of the console, by topic."""
