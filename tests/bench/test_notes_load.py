"""The yardstick of loading notes: as many bytes as the note, all of them YAML."""

import pytest
import yaml

from bench.notes_load import as_yaml

HEAD = '---\nsummary: "Planned the trip"\ntasks: "0/1"\n---\n'


@pytest.mark.parametrize("lines", [0, 1, 7, 100])
def test_a_note_becomes_as_many_bytes_of_yaml(lines: int) -> None:
    note = (HEAD + "\n# A day\n" + "- [ ] Book the flight, é <!-- kX3aB9pQ -->\n" * lines).encode()
    copy = as_yaml(note)
    assert len(copy) == len(note)
    read = yaml.safe_load(copy)
    assert read["summary"] == "Planned the trip"
    assert len(read["body"] or ()) >= lines * 0.8 - 1  # most of it is to be parsed
