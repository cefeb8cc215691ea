"""`python -m pdexplorer` is the shell command."""

import sys

from pdexplorer.cli import main

sys.exit(main())
