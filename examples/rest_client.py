"""Use a server: a view with the methods of the library, and the same query over HTTP.

Run it, while `tacit serve` runs (acting for other people requires a key):

    pip install '.[client]'
    tacit keys create bot --scope read --scope write --scope act-as     # shows the key, once
    TACIT_URL=http://127.0.0.1:8377 TACIT_KEY=tct_… python examples/rest_client.py

It prints:

    private: ['Alice plays the cello']
    group: []
    over HTTP: [fact] Alice plays the cello
    conflict: the memory has changed
    not Bob's to read: not found
"""

import os

import httpx2

import tacit

URL, KEY = os.environ["TACIT_URL"], os.environ["TACIT_KEY"]
alice = tacit.Requester("telegram:1001", name="Alice")
bob = tacit.Requester("telegram:2002", name="Bob")
group = tacit.Chat.group("telegram:-5", [alice, bob])

with tacit.connect(URL, KEY) as client:
    private = client.view(alice, tacit.Chat.private(alice.key))
    done = private.once("message-17").remember("Alice plays the cello")  # a repeat runs once
    print("private:", [one.memory.content for one in private.recall("What does Alice play?")])
    print("group:", [one.content for one in client.view(alice, group).list()])

    answer = httpx2.post(
        f"{URL}/api/query",
        headers={"Authorization": f"Bearer {KEY}", "X-Tacit-Requester": alice.key},
        json={"query": "What does Alice play?"},
    )
    print("over HTTP:", answer.json()[0]["text"])

    try:
        private.update(done.id, "Alice plays the viola", if_version=7)
    except tacit.Conflict:
        print("conflict: the memory has changed")
    try:
        client.view(bob, tacit.Chat.private(bob.key)).show(done.id)
    except tacit.NotFound:
        print("not Bob's to read: not found")
