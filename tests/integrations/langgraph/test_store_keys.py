"""The keys of items: every place is one of its own, and a key as memories have them."""

from urllib.parse import unquote

from hypothesis import given, reject
from hypothesis import strategies as st

from tacit import limits
from tacit.errors import InvalidInput
from tacit.integrations.langgraph.store import item_key, key_prefix
from tacit.records import validation

NAMES = st.text(
    st.one_of(st.sampled_from("/% .*é\u0301\u200b\n\u00a0a🌴"), st.characters(codec="utf-8")),
    max_size=6,
)
LABELS = NAMES.filter(bool)


@given(st.lists(LABELS, min_size=1, max_size=4).map(tuple), NAMES)
def test_a_place_can_be_read_back_and_is_a_key(namespace: tuple[str, ...], key: str) -> None:
    try:
        where = item_key(namespace, key)
    except InvalidInput:
        reject()  # too long with all that is escaped in it
    assert validation.parse_identifier("key", where, limits.KEY_MAX_CHARS) == where
    labels, _, last = where.partition("//")
    assert tuple(map(unquote, labels.split("/"))) == namespace
    assert unquote(last) == key
    for count in range(len(namespace) + 1):
        assert where.startswith(key_prefix(namespace[:count]))
