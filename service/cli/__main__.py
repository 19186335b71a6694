"""`python -m service.cli`: the command, where the script is not on the PATH."""

from service.cli.main import main

main()
