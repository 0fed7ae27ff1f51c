"""What every answer of the console tells a browser: nothing comes from elsewhere, nothing runs that
is not ours, nothing is framed, and nothing is kept."""

from __future__ import annotations

_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
)
_CLOSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")

SECURITY = {
    "Content-Security-Policy": "; ".join(_POLICY),
    # Not no-referrer: under that, browsers send forms with the origin `null`, and whose form it is
    # could not be told. Other hosts learn nothing by this one either.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{one}=()" for one in _CLOSED),
}
PAGE = {**SECURITY, "Cache-Control": "no-store"}
