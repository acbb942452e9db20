"""The way in, for the script and for `python -m filerefs`: a hook must not wait for what the other commands need."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process and return its exit code."""
    if sys.argv[1:2] == ["hook"]:
        from filerefs import hook_cli

        return hook_cli.main(sys.argv[2:])
    from filerefs import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
