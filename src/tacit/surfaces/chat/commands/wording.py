"""Everything that commands say, in English."""

from __future__ import annotations

from tacit.records.memory import Visibility

HELP = (
    "/memory: what I remember for you\n"
    "/memory delete <id>: forget one of these\n"
    "/mem: the same, with who may hear each; /mem del <id>, /mem vis <id> <public|private>\n"
    "/forget <id or words>: forget something; /forget everything: erase it all, for good\n"
    "/undo: take back the last change\n"
    "/privacy: what I keep, and who hears it\n"
    "/export: all of it as a file; /export markdown: to be read\n"
    "/link: use the same memory from another account of yours; /unlink: no longer\n"
    "/confidential on: for a group's admins, nothing said there leaves it\n"
    "/id: the id of this chat"
)
HELP_CONSOLE = "\n/console: a link to a page where you see and change all of it"
WELCOME = (
    "Hello. I remember what you tell me, and use it only where it may be heard. "
    "What you say in private stays between us."
)
WELCOME_GROUP = (
    "Hello. What is said here I use here, and what somebody tells me in private I do not. "
    "/help lists what I can do; your own memories we look at in our private chat."
)
NO_MODEL = (
    "No language model is set, so I cannot chat. This works all the same: write “remember …” to "
    "have something kept, ask a question to hear what I know of it, and use the commands below."
)
HELP_GROUP = "Write to me in private for /memory, /forget, /undo, /privacy, /export and /link."

PRIVATE_ONLY = "That is between the two of us: please send it in our private chat."
DISABLED = "I do not know who is asking, so nothing is remembered or recalled here. /id works."
UNKNOWN = "I do not know that command. /help lists those that I know."
NOT_POSSIBLE = "That cannot be done. /help tells how it is written."
NO_SUCH = "There is no such memory."

NO_MEMORIES = "I do not remember anything for you yet."
LIST_TITLE = "📝 Your memories:"
LIST_ENDING = "Use /memory delete <id> to remove a memory."
VISIBILITY_ENDING = "Use /mem del <id> to remove one, /mem vis <id> <public|private> to change it."
EARLIER, NEXT = "« Back", "Next »"
HOW_TO_DELETE = "Which one? Write /memory delete <id>; /memory lists the ids."
HOW_TO_SHOW = "Write /mem vis <id> public, or /mem vis <id> private; /mem lists the ids."
VISIBLE = {
    Visibility.PRIVATE_ONLY: "private",
    Visibility.ROOM: "where it was said",
    Visibility.PUBLIC_OK: "public",
}
NOW_PUBLIC = "From now on I may say this where others listen, when it is about you or you ask."
STILL_KEPT = "It is sensitive, or to be kept from somebody: I still do not say it in any group."
NOW_PRIVATE = "From now on I say this in private only."

UNDO, FORGET_IT, NO = "Undo", "Forget {}", "No"
DELETED = "Deleted: '{}'"
FORGOTTEN = "Forgotten: '{}'."
RESTORABLE_ONE = " /undo brings it back."
RESTORABLE = "\nThe button brings all of them back."
NOT_KEPT = "All right, I will not keep this: '{}'"
DELETED_HERE = "Forgotten."
RESTORED = "Restored: '{}'"
REMOVED = "No longer remembered: '{}'"
REWORDED = "Back to: '{}'"
UNDONE = "Undone."
CHANGED_SINCE = "It was changed since then, so I leave it as it is. /memory shows it."
NOTHING_TO_UNDO = "There is nothing to undo."
CANNOT_UNDO = "Your last change cannot be undone. /memory shows what there is now."

HOW_TO_FORGET = (
    "What shall I forget? Say for example “forget my address”, or /forget <id>. /memory lists "
    "everything, and /undo takes back the last change."
)
NOTHING_FOUND = "I found nothing like that to forget."
WHICH = "Which of these shall I forget?"
WHICH_THIS = "Shall I forget this?"
YES_OR_NO = "Say “yes” or “no”."
WHICH_NUMBERS = "Say the numbers, “all” or “none”."
KEPT_THEM = "All right, nothing is forgotten."
ALL_OF_IT = (
    "Erase everything that I remember for you, now and for good? This cannot be undone. "
    "/export gives you a copy first. Say “yes” or “no”."
)
ERASE_ALL, KEEP_ALL = "Erase everything", "Keep it"
ERASED_ALL = "Everything that was yours is erased: {} in all."
KEPT_ALL = "All of it is kept."

PRIVACY_GROUP = (
    "What is said here I may use here; what somebody tells me in private I do not say here. "
    "Send /privacy in our private chat for the rest."
)
PRIVACY = (
    "1. What I keep: facts and preferences that you tell me, {} by now. Never passwords, keys or "
    "card numbers.\n"
    "2. Who hears it: what you tell me here, you alone, unless you make it public with /mem vis. "
    "What is said in a group is used in that group.\n"
    "3. Sensitive things (health, money and the like) are never said in a group.\n"
    "4. See and correct it: /memory lists it, tell me what has changed, /undo takes the last "
    "change back, /export gives you a file.\n"
    "5. Erase it: /forget <id> (can be undone for a while), /forget everything (cannot)."
)

EXPORT = "Everything that I remember for you, as of now."
EXPORT_TOO_LARGE = "That is more than fits into one message. Ask whoever runs me for an export."
EXPORT_FORMS = "Write /export for a file for machines, or /export markdown for one to be read."

CONSOLE = (
    "This link leads to everything that I remember for you. It works once, within {}. "
    "Give it to nobody: whoever opens it sees what you would see.\n"
)
NO_CONSOLE = "There is no page here where you could look. /memory lists what I remember."

# What is to be sent from the other account is told for every channel: nobody knows which it is.
LINK_CODE = "Your code: "
LINK_OFFER = (
    "\nIn your other account, send me /link (in Slack /tacit link) and this code, within {} "
    "minutes. Give it to nobody else: whoever uses it asks to share your memories. "
    "Nothing is shared before you say yes here."
)
LINK_SENT = "I have sent it"
LINK_NOT_YET = (
    "Nobody has used the code yet. From your other account, send /link (in Slack /tacit link) and "
    "the code."
)
LINK_ASKED = (
    " wants to be linked with you. Linked, each of the two accounts reads what the other one told "
    "me. Are both yours?"
)
LINK_SURE = (
    "You are about to link this account with the one that made the code. Whoever that is will read "
    "everything that you told me here. Go on only if you made the code yourself, a moment ago."
)
LINK_BOTH_MINE = "Yes, both are mine"
LINK_WAITS = "Good. Nothing is shared yet: now send /link yes (in Slack /tacit link yes) from "
LINK_STOP = "Stop, that is not me"
LINK_NOT_THAT = (
    "That code is not valid. Codes work once, for ten minutes: send /link for a new one."
)
LINK_TOO_MANY = "Those were too many wrong codes. Please wait {} minutes before the next one."
LINK_TAKEN = "One of the two accounts is linked already. Unlink it there first."
LINKED_WITH = "This account is linked now with "
LINKED_IF_NOT_YOURS = (
    ": it reads what you told me, and what you tell me from now on. If that one is not yours, send "
    "/unlink at once."
)
LINKED = "Linked. From now on both accounts share one memory. /unlink ends that at once."
NOT_LINKED = "Nothing was linked."
LINK_NOTHING_WAITS = "Nothing waits for your yes. Send /link for a new code."
UNLINKED = (
    "Unlinked. From now on this account stands for itself again. What you told me while it was "
    "linked stays with the account that it was linked to."
)
UNLINKED_ALREADY = "This account is not linked to another one."

GROUPS_ONLY = "That is for groups: send it in the group that it is about."
ADMINS_ONLY = "That is for this group's admins to decide."
HOW_CONFIDENTIAL = "Write /confidential on, or /confidential off."
CONFIDENTIAL = "This group is confidential now: nothing that is said here leaves it."
NOT_CONFIDENTIAL = (
    "This group is no longer confidential: what may be heard elsewhere, may leave it."
)
