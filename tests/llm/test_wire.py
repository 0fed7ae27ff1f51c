"""The transport under the library: one request for each exchange, to one host, with its own key."""

import asyncio

import httpx2
import pytest

from tacit.clock import system_clock
from tacit.llm.client import CURRENT_EXCHANGE, BoundedTransport, HttpExchange, RequestAborted
from tacit.llm.endpoint import parse_address
from tests.llm.asking import GOOD, KEY
from tests.llm.endpoint import Api, Endpoint, serving
from tests.llm.replies import says

PATH = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
BODY = {"model": "tiny", "messages": []}


def send(api: Api, endpoint: Endpoint, *urls: str) -> list[int]:
    async def main() -> list[int]:
        CURRENT_EXCHANGE.set(HttpExchange())
        transport = BoundedTransport(parse_address(api, endpoint.url, KEY), system_clock)
        async with httpx2.AsyncClient(transport=transport) as client:
            return [(await client.post(url, json=BODY)).status_code for url in urls]

    return asyncio.run(main())


def test_an_exchange_is_one_request_whatever_the_library_would_like(api: Api, endpoint: Endpoint) -> None:
    endpoint.always = says(GOOD)
    url = endpoint.url + PATH[api]
    assert send(api, endpoint, url) == [200]
    with pytest.raises(RequestAborted):
        send(api, endpoint, url, url)
    assert endpoint.count == 2


def test_no_other_host_port_or_scheme_is_asked(api: Api, endpoint: Endpoint) -> None:
    with serving() as elsewhere:
        for url in (elsewhere.url, endpoint.url.replace("http:", "https:")):
            with pytest.raises(RequestAborted):
                send(api, endpoint, url + PATH[api])
        assert (endpoint.count, elsewhere.count) == (0, 0)
