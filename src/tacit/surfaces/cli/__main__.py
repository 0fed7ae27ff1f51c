"""`python -m tacit.surfaces.cli`, where the `tacit` script is not on the path."""

import sys

from tacit.surfaces.cli import main

sys.exit(main())
