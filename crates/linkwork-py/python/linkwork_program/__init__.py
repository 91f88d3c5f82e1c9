"""The program `linkwork`, which is inside the compiled half of the package `linkwork`.

It is loaded without the rest of the package, whose imports would take longer than most commands.
"""

import signal
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec


def main() -> int:
    """Runs the program with the arguments of this process; its exit code."""
    package = find_spec("linkwork")
    spec = package and PathFinder.find_spec("_linkwork", package.submodule_search_locations)
    if not spec or not spec.loader:
        print("error: the compiled half of the package `linkwork` is not there; install it again", file=sys.stderr)
        return 1
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    # Ctrl-C ends a program, unless it listens for that itself; Python would wait for the end of the call.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return int(compiled.program(["linkwork", *sys.argv[1:]]))
