"""The API's process: python -m service.api."""

import gc
import sys

# All that is made while this is imported stays: to look through it again and again for what may go
# would take a tenth of the start. Once the application is made it goes on.
gc.disable()

from service.api.process import main  # noqa: E402 — after the line above, which is for this import

if __name__ == "__main__":
    sys.exit(main())
