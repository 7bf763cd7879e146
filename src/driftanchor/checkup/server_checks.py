"""Whether a server answers, can reach its store, has our version, and accepts a key."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from driftanchor.checkup.diagnosis import Diagnosis, fine, problem
from driftanchor.client.bounded import Bounded
from driftanchor.client.calls import usable_key
from driftanchor.client.http_connections import HttpConnections, Reply
from driftanchor.errors import excerpt
from driftanchor.render.numbers import count
from driftanchor.serve.loopback import is_local
from driftanchor.version import __version__

PATIENCE = 5.0  # seconds for an answer
ALONE = "clients play their default arms, or fail"


class Asked:
    """A server, as it answers GET requests.

    Args:
        url: Its address.
        key: The key to send where one is needed, if there is one.
    """

    def __init__(self, url: str, key: str | None = None) -> None:
        self._connections = HttpConnections(url)
        self._bounded = Bounded()
        self.url = self._connections.url
        self.key = None if key is None else usable_key(key)

    def get(self, path: str, key: str | None = None) -> Reply:
        """What it answers.

        Raises:
            OSError: It cannot be reached, or is too slow.
            http.client.HTTPException: It answers with something that is not HTTP.
        """
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        found: Reply = self._bounded.run(
            lambda: self._connections.exchange("GET", path, None, headers, PATIENCE),
            seconds=PATIENCE,
        )
        return found

    def close(self) -> None:
        """Close its connections."""
        self._connections.close()


def check_server(url: str, key: str | None = None) -> Iterator[Diagnosis]:
    """All that is to be said about the server at an address.

    Args:
        url: The address.
        key: A key for it, if there is one.

    Raises:
        InvalidInput: It is no address of a server, or no key.
    """
    asked = Asked(url, key)
    try:
        for check in CHECKS:
            for found in check(asked):
                yield found
                if check is alive and found.status != "fine":
                    return  # nobody is there to be asked more
    except (OSError, http.client.HTTPException) as error:
        yield _unanswered(asked, error)
    finally:
        asked.close()


def alive(asked: Asked) -> Iterator[Diagnosis]:
    """Whether a server of ours answers."""
    try:
        answer = asked.get("/livez")
    except (OSError, http.client.HTTPException) as error:
        yield _unanswered(asked, error)
        return
    if answer.status == 200 and _json(answer) == {"status": "ok"}:
        yield fine("server", f"a server answers at {asked.url}")
    else:
        found = f"what answers at {asked.url} is no driftanchor (it answers {answer.status})"
        yield problem("server", found, f"{ALONE}: check the address and the proxy before it")


def _unanswered(asked: Asked, error: Exception) -> Diagnosis:
    said = "it takes too long" if isinstance(error, TimeoutError) else excerpt(str(error))
    remedy = "check that 'driftanchor serve' runs there, and the address"
    if isinstance(error, ssl.SSLCertVerificationError):
        remedy = "set SSL_CERT_FILE to the certificate of who signed it"
    return problem("server", f"no answer from {asked.url}: {said}", f"{ALONE}: {remedy}")


def ready(asked: Asked) -> Iterator[Diagnosis]:
    """Whether it can read its store."""
    answer = asked.get("/readyz?verbose")
    if answer.status == 200:
        many = _within(_json(answer), "checks", "campaigns")
        has = f", which has {count(many, 'campaign')}" if isinstance(many, int) else ""
        yield fine("server store", f"it can read its store{has}")
    else:
        found = f"it is not ready: {_said(answer)}"
        remedy = "run driftanchor doctor --store on its machine, as its user"
        yield problem("server store", found, f"{ALONE}: {remedy}")


def version(asked: Asked) -> Iterator[Diagnosis]:
    """Whether it has the version of this program."""
    theirs = excerpt(str(_within(_json(asked.get("/openapi.json")), "info", "version")))
    found = f"it has version {theirs}"
    if theirs == __version__:
        yield fine("server version", f"{found}, as we do")
    else:
        advice = "what one of them can do the other may not know: install the same version"
        yield problem("server version", f"{found}, and we have {__version__}", advice)


def key_works(asked: Asked) -> Iterator[Diagnosis]:
    """Whether a key is needed, and whether the one that is given works."""
    name = "server key"
    if asked.key is not None and urlsplit(asked.url).scheme == "http" and not _is_here(asked.url):
        found = "the key was not sent: this address has no TLS"
        advice = "others on the way can read keys: put a proxy with TLS before it, and use https"
        yield problem(name, found, advice)
        return
    answer = asked.get("/v1/campaigns", asked.key)
    code = _within(_json(answer), "code")
    if code == "role_missing":
        yield fine(name, "it accepts the key, which may not read campaigns (role read)")
    elif answer.status == 200:
        is_open = asked.key is None or asked.get("/v1/campaigns").status == 200
        yield fine(name, "it needs no key, and checks none" if is_open else "it accepts the key")
    elif code == "key_missing" and asked.key is None:
        yield fine(name, "it needs a key, and none was given: --key-file names the file of one")
    else:
        advice = "requests with it are refused; run driftanchor keys create --role decide"
        yield problem(name, f"it refuses this: {_said(answer)}", advice)


CHECKS = (alive, ready, version, key_works)


def _is_here(url: str) -> bool:
    """Whether an address is this machine."""
    return is_local(urlsplit(url).netloc.encode("utf-8", "replace"))


def _json(answer: Reply) -> Any:
    """What is in an answer; `None` if it is no JSON."""
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return None


def _within(data: Any, *names: str) -> Any:
    """What is below these names in JSON that may be anything; `None` if nothing is."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _said(answer: Reply) -> str:
    """Why a server refused something, in its words."""
    return excerpt(str(_within(_json(answer), "detail") or answer.status))
