"""Who sits here: the name that is kept where the service asks for no token."""

import getpass


def user_name() -> str | None:
    """Return the user's name; a container may run as a number that has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None
