"""`python -m tacit.cli`, where the `tacit` script is not on the path."""

import sys

from tacit.cli import main

sys.exit(main())
