"""`python -m pdexplorer` is the shell command."""

import sys

from pdexplorer.cli.main import main

sys.exit(main())
