"""The built dashboard as files: every address of a view is answered by the one page."""

from http import HTTPStatus
from pathlib import PurePosixPath

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

# Vite names what lies here after its content, so that it never changes.
NEVER_CHANGES = "assets/"
HEADERS = {
    # Nothing is loaded from elsewhere, and no script stands in a page.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}
# The API's own addresses: a wrong one is an answer of the API, and no view.
NOT_VIEWS = ("api/", "assets/")


class Dashboard(StaticFiles):
    """Serves the files that `./dev web` builds, and the page itself for each of its views.

    The state of a view is its address, so that a link to it must survive a reload.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file; for an address that names none, the page that draws it."""
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != HTTPStatus.NOT_FOUND or not _is_view(path):
                raise
            response = await super().get_response("index.html", scope)
        _add_headers(response.headers, path)
        return response


def _is_view(path: str) -> bool:
    return not path.startswith(NOT_VIEWS) and not PurePosixPath(path).suffix


def _add_headers(headers: MutableHeaders, path: str) -> None:
    for name, value in HEADERS.items():
        headers[name] = value
    headers["Cache-Control"] = (
        "public, max-age=31536000, immutable" if path.startswith(NEVER_CHANGES) else "no-cache"
    )
