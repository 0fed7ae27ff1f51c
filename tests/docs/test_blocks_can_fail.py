"""A page that says what is not so is found out."""

import pytest

import tacit
from tacit.cli.output import BadUsage
from tests.docs.blocks import blocks_of
from tests.docs.conftest import WorldOf
from tests.docs.reading import Reading

WRONG = {
    "what is printed reads otherwise": "```python\nprint(1)\n```\n\nIt prints:\n\n```\n2\n```\n",
    "what is printed is not told": "```python\nprint(1)\n```\n",
    "what is told is not printed": "```python\nx = 1\n```\n\nIt prints:\n\n```\n1\n```\n",
    "a command says something else": "```console\n$ tacit waiting\nwaiting  7 turns\n```\n",
    "a command says more": "```console\n$ tacit waiting\n```\n",
    "a command fails": "```sh\ntacit list --as telegram:1001 --no-such-option\n```\n",
    "a file of the page is not that": ("In `a.txt`:\n\n```text\n1\n```\n\n```console\n$ cat a.txt\n2\n```\n"),
    "a program that nobody allowed": "```sh\ncurl_or_so now\n```\n",
    "a target that is not there": "```sh\nmake coffee\n```\n",
    "an extra that is not there": "```sh\npip install '.[coffee]'\n```\n",
    "a package that is somebody else's": "```sh\npip install tacit\n```\n",
    "an extra of somebody else's": "```sh\npip install 'tacit[server]'\n```\n",
    "a variable that nobody set": "```sh\necho $COFFEE\n```\n",
    "a test that fails": "```python\ndef test_it(database_url):\n    assert False\n```\n",
    "a request that is refused": "```sh\ncurl http://localhost:8377/api/items?limit=many\n```\n",
    "another status": ("```sh\ncurl http://localhost:8377/health/live\n```\n\nIt answers 204:\n\n```\n…\n```\n"),
    "an engine for containers that is told what Tacit does not know": ("```sh\ndocker build . && tacit coffee\n```\n"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_page_that_is_wrong_fails(what: str, world_of: WorldOf) -> None:
    with pytest.raises((AssertionError, BadUsage)):
        Reading(world_of("page.md")).read(list(blocks_of("page.md", WRONG[what])))


def test_a_setting_that_is_none_fails(world_of: WorldOf) -> None:
    found = blocks_of("page.md", "```yaml\nmemory:\n  coffee: true\n```\n")
    with pytest.raises(tacit.SettingsError, match=r"memory\.coffee"):
        Reading(world_of("page.md")).read(list(found))
