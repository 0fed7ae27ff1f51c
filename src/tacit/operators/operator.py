"""An operator of a space: acts that are audited under their name, and looks that are noted."""

from __future__ import annotations

from tacit.operators.acting import OperatorActs
from tacit.operators.activity import OperatorActivity
from tacit.operators.hearing import OperatorHearing
from tacit.operators.people import OperatorPeople


class Operator(OperatorActs, OperatorHearing, OperatorActivity, OperatorPeople):
    """Made by `Memory.operator`. Each act stands in the memory's history with this actor, and each
    look in what the people concerned are told: `view.looks`."""
