"""The parameters of a call as clients of the Bot API send them: a form, with a file or without."""

from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl


def form(kind: str, body: bytes) -> dict[str, Any]:
    if not kind.startswith("multipart/"):
        return dict(parse_qsl(body.decode(), keep_blank_values=True))
    parsed = BytesParser(policy=HTTP).parsebytes(b"content-type: " + kind.encode() + b"\r\n\r\n" + body)
    found: dict[str, Any] = {}
    for piece in parsed.iter_parts():
        name = piece.get_param("name", header="content-disposition")
        raw = piece.get_payload(decode=True)
        assert isinstance(raw, bytes)
        found[str(name)] = raw.decode()
        if piece.get_filename():
            found["filename"] = piece.get_filename()
    return found
