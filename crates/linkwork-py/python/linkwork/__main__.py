"""`python -m linkwork` is the program `linkwork`."""

import sys

from linkwork_program import main

if __name__ == "__main__":
    sys.exit(main())
