"""The console: web pages on which people see what is remembered, and why it is said or not.

Made by the server from the public API: pages work without JavaScript, and load nothing from
elsewhere. `mount` puts them into the app of `surfaces.rest`.
"""
