"""Client of the Posthorn mail appliance: one file, no dependency, for Python 3.11 or later.

    from posthorn import Posthorn
    posthorn = Posthorn("http://posthorn.internal:8080", "ph_...")     # or POSTHORN_URL, POSTHORN_API_KEY
    sent = posthorn.send_email({"from": "Shop <shop@example.com>", "to": "ann@example.org",
                                "subject": "Your order", "html": "<p>Thank you!</p>"})

Each POST has an Idempotency-Key, the same with the same bytes in all its attempts, so that a repeat cannot act twice.
A request is repeated after no whole answer, a 500, 502, 503, 504, a 409 `concurrent_idempotent_request`, and a 429
`rate_limit_exceeded` (after its Retry-After); never after `account_paused`, quotas and all else. Failures are raised:
branch on `error.code`.
"""
from __future__ import annotations

import hashlib
import hmac
import http.client
import io
import json
import os
import random
import re
import socket
import ssl
import time
import uuid
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, Generic, Iterator, List, Literal, Mapping, NotRequired, Optional, Sequence, TypedDict, TypeVar, Union
from urllib.parse import quote, urlencode, urlsplit

__version__ = "@VERSION@"

Item = TypeVar("Item")
Json = Any

# <types>


class PosthornError(Exception):
    """A refusal by the appliance, or why there was no answer. Branch on `code`."""

    def __init__(self, message: str, *, code: str, status: int = 0, body: Json = None, request_id: Optional[str] = None,
                 attempts: int = 1, retryable: bool = False, retry_after: Optional[float] = None) -> None:
        super().__init__(message)
        self.code, self.status, self.body, self.request_id = code, status, body, request_id
        #: How often it was tried, and whether it may succeed a little later.
        self.attempts, self.retryable = attempts, retryable
        #: For a 429: in how many seconds.
        self.retry_after = retry_after


class ValidationError(PosthornError):
    """400, 413, 415, 422: `body` names the fields. Status 0: it cannot be sent at all."""


class AuthenticationError(PosthornError):
    """401: the key is missing, unknown, deleted or expired."""


class PermissionDeniedError(PosthornError):
    """402 and 403: the key, or the account, may not do this."""


class AccountPausedError(PosthornError):
    """The operator has to act: never loop."""


class QuotaError(PosthornError):
    """A cap of the plan; `body` has `canSend`, or when it starts again."""


class RateLimitError(PosthornError):
    """429: more requests than a key may make in its window."""


class NotFoundError(PosthornError):
    """404."""


class ConflictError(PosthornError):
    """409."""


class ServerError(PosthornError):
    """5xx."""


class ConnectionFailedError(PosthornError):
    """There was no whole answer, or (`answer_too_large`) one that was not read to its end."""


class TimedOutError(PosthornError):
    """There was no answer in time."""


class WebhookVerificationError(Exception):
    """Answer 400. `reason`: missing, malformed, old, signature."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class Pages(Generic[Item]):
    """A list: iterating it gives every item of all pages; `first()` and `pages()` give pages as answered."""

    def __init__(self, fetch: Callable[[Optional[str]], Dict[str, Any]], key: str) -> None:
        self._fetch, self._key, self._first = fetch, key, None

    def first(self) -> Dict[str, Any]:
        if self._first is None:
            self._first = self._fetch(None)
        return self._first

    def pages(self) -> Iterator[Dict[str, Any]]:
        page = self.first()
        while True:
            yield page
            cursor = page.get("nextCursor")
            if not cursor:
                return
            page = self._fetch(cursor)

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page[self._key]


class Posthorn:
    """A client of one appliance, for one API key; for one thread at a time.

    At most `max_answer_bytes` of an answer are read, twice the largest that an appliance gives: a server that lies must not
    fill the memory."""

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None, *, timeout: float = 30, retries: int = 3,
                 max_elapsed: float = 120, max_answer_bytes: int = 64 * 1024 ** 2,
                 sleep: Callable[[float], None] = time.sleep,
                 chance: Callable[[], float] = random.random, ssl_context: Optional[ssl.SSLContext] = None) -> None:
        url = url or os.environ.get("POSTHORN_URL")
        if not url:
            raise ValueError("Posthorn needs url, or POSTHORN_URL")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.username is not None or not parts.hostname:
            raise ValueError("url is not http: or https: without a user and a password")
        self._parts = parts
        self._base = re.sub(r"/+(v1/*)?$", "", parts.path)
        self._key = api_key or os.environ.get("POSTHORN_API_KEY")
        if self._key and not re.fullmatch(r"[!-~]+", self._key):
            # The key is not shown, as a message goes into logs.
            raise ValueError("api_key has a space, a line break or a letter that no key has")
        self._timeout, self._retries, self._max_elapsed = timeout, retries, max_elapsed
        self._most = max_answer_bytes
        self._sleep, self._chance, self._ssl = sleep, chance, ssl_context
        self._kept: Optional[http.client.HTTPConnection] = None

    def __repr__(self) -> str:
        return f"Posthorn({self._parts.scheme}://{self._parts.netloc}{self._base})"

    def close(self) -> None:
        """Closes the connection that is kept between requests."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()

    def __enter__(self) -> Posthorn:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(self, method: str, path: str, *, query: Optional[Mapping[str, Any]] = None, body: Json = None,
                idempotency_key: Optional[str] = None, content: Optional[tuple] = None, timeout: Optional[float] = None,
                retries: Optional[int] = None) -> Json:
        """Any request, for operations that are newer than this client. `content`: bytes and their type, sent once."""
        began = time.monotonic()
        key = idempotency_key
        if key is None:
            key = str(uuid.uuid4()) if method == "POST" else None
        elif not re.fullmatch(r"[!-~]{1,255}", key):
            raise _unfit("idempotency_key: expected 1 to 255 visible ASCII characters")
        headers = {"Accept": "application/json", "User-Agent": f"posthorn-python/{__version__}"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        if key:
            headers["Idempotency-Key"] = key
        data: Optional[bytes] = None
        if content is not None:
            data, headers["Content-Type"] = content
        elif body is not None:
            try:
                data = json.dumps(body, ensure_ascii=False, allow_nan=False, default=_time_text).encode()
            except (TypeError, ValueError) as cause:
                raise _unfit(f"The body cannot be sent as JSON: {cause}") from cause
            headers["Content-Type"] = "application/json"
        target = self._base + path + _search(query)
        chances = 0 if content is not None else self._retries if retries is None else retries
        attempt = 0
        while True:
            attempt += 1
            try:
                status, answer, given = self._once(method, target, data, headers, timeout or self._timeout,
                                                   content is None)
                if status < 300:
                    try:
                        return json.loads(given)
                    except (ValueError, RecursionError) as cause:
                        # The request may have been carried out: the repeat with the same key finds out.
                        raise _Broken("The answer is not whole") from cause
                error = _refused(status, answer, given, attempt)
                wait = _wait_for(error, self._backoff(attempt), self._chance)
            except _Broken as broken:
                kind = TimedOutError if broken.late else ConnectionFailedError
                error = kind(f"{broken} (tried {attempt} times)" if attempt > 1 else str(broken), code=broken.code,
                             attempts=attempt, retryable=not broken.large)
                error.__cause__ = broken.__cause__
                wait = None if broken.large else self._backoff(attempt)
            if wait is None or attempt > chances:
                raise error
            if time.monotonic() - began + wait > self._max_elapsed:
                if error.retry_after is not None:
                    error.args = (f"{error}; it asks to wait {wait:.0f} s, and a call takes {self._max_elapsed:g} s at most",)
                raise error
            self._sleep(wait)

    def _backoff(self, attempt: int) -> float:
        return self._chance() * min(8.0, 0.5 * 2 ** (attempt - 1))

    def _once(self, method: str, target: str, data: Optional[bytes], headers: Mapping[str, str], timeout: float,
              again: bool):
        """One attempt: it ends with the whole answer, or with _Broken."""
        end = time.monotonic() + timeout
        kept, self._kept = self._kept, None
        if kept is not None and not again:
            # A request that is sent once gets a new connection: how far a broken one came is unknown.
            kept.close()
            kept = None
        connection = kept or self._connection()
        try:
            try:
                answer = self._ask(connection, method, target, data, headers, end)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                # The server may have closed a kept connection meanwhile, which is no answer to this request.
                if kept is None:
                    raise
                connection.close()
                connection = self._connection()
                answer = self._ask(connection, method, target, data, headers, end)
            pieces: List[bytes] = []
            left = self._most
            while piece := answer.read1(65536):
                left -= len(piece)
                if left < 0:
                    raise _Broken(f"The answer has more than {self._most} bytes; see max_answer_bytes", large=True)
                pieces.append(piece)
            body = b"".join(pieces)
            length = answer.getheader("Content-Length")
            if length is not None and not (length.isdigit() and len(body) >= int(length)):
                raise _Broken("The answer is not whole")
            keeps = not answer.will_close
            # An answer that was read to its end is not closed yet, and would make the next one unreadable.
            answer.close()
            if keeps:
                self._kept = connection
            else:
                connection.close()
            return answer.status, answer.headers, body.decode("utf-8", "replace")
        except _Broken:
            connection.close()
            raise
        except (socket.timeout, TimeoutError) as cause:
            connection.close()
            raise _Broken(f"No answer within {timeout:g} s", late=True) from cause
        except (OSError, http.client.HTTPException) as cause:
            connection.close()
            raise _Broken(f"The connection broke before the answer: {cause}") from cause

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            connection = http.client.HTTPSConnection(host, port, context=self._ssl or ssl.create_default_context())
        else:
            connection = http.client.HTTPConnection(host, port)
        connection.response_class = lambda sock, **given: _Answer(_InTime(sock, connection), **given)
        return connection

    @staticmethod
    def _ask(connection, method, target, data, headers, end):
        connection.end = end
        connection.timeout = _left(end)
        if connection.sock is not None:
            connection.sock.settimeout(connection.timeout)
        # Redirects are not followed: the request would go to a place that nobody has named.
        connection.request(method, target, data, dict(headers))
        return connection.getresponse()

    # <methods>


class _Broken(Exception):
    def __init__(self, message: str, late: bool = False, large: bool = False) -> None:
        super().__init__(message)
        self.late, self.large = late, large
        self.code = "timeout" if late else "answer_too_large" if large else "connection_failed"


def _unfit(message: str) -> ValidationError:
    """An error from before anything is sent."""
    return ValidationError(message, code="validation_error", attempts=0)


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


class _Answer(http.client.HTTPResponse):
    """The final answer: http.client itself skips no informational one but 100 (RFC 9110 15.2)."""

    def begin(self) -> None:
        super().begin()
        while self.status < 200:
            self.headers = self.msg = None
            super().begin()


class _InTime(io.RawIOBase):
    """What a server sends, until the attempt's end: a socket has a time for each piece alone, and a head may come byte by byte."""

    def __init__(self, sock: socket.socket, connection: http.client.HTTPConnection) -> None:
        self._sock, self._connection, self._pieces = sock, connection, sock.makefile("rb", buffering=0)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self._sock.settimeout(_left(self._connection.end))
        return self._pieces.readinto(buffer)

    def close(self) -> None:
        self._pieces.close()
        super().close()


def _time_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def _search(query: Optional[Mapping[str, Any]]) -> str:
    given = []
    for name, value in (query or {}).items():
        if value is None:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            text = _time_text(one) if isinstance(one, datetime) else str(one).lower() if isinstance(one, bool) else str(one)
            given.append((name, text))
    return f"?{urlencode(given)}" if given else ""


def _page(query: Optional[Mapping[str, Any]], cursor: Optional[str]) -> Dict[str, Any]:
    return {**(query or {}), **({} if cursor is None else {"cursor": cursor})}


def _path(template: str, *params: object) -> str:
    left = list(params)

    def fill(match: "re.Match[str]") -> str:
        value = left.pop(0)
        # An empty id would make the path of another endpoint: the list instead of one item of it.
        if value is None or str(value) == "":
            raise ValueError(f"{match[1]} is missing")
        return quote(str(value), safe="")

    return re.sub(r"\{(\w+)\}", fill, template)


def _form(field: str, data: Union[bytes, str]) -> tuple:
    mark = uuid.uuid4().hex
    start = f'--{mark}\r\nContent-Disposition: form-data; name="{field}"; filename="file"\r\nContent-Type: text/csv\r\n\r\n'
    content = data.encode() if isinstance(data, str) else data
    return start.encode() + content + f"\r\n--{mark}--\r\n".encode(), f"multipart/form-data; boundary={mark}"


def _refused(status: int, headers: Mapping[str, str], text: str, attempts: int) -> PosthornError:
    try:
        body: Json = json.loads(text)
    except (ValueError, RecursionError):
        body = text[:200]
    named = body if isinstance(body, dict) else {}
    known = named.get("code")
    code = known if isinstance(known, str) else "validation_error" if status in (400, 422) else f"http_{status}"
    said = named.get("error")
    if isinstance(known, str) and isinstance(said, str):
        message = said
    elif isinstance(said, dict) and isinstance(said.get("issues"), list):
        message = "; ".join(f"{'.'.join(map(str, one['path']))}: {one['message']}" for one in said["issues"])
    elif status < 400 and headers.get("Location"):
        message = f"The server redirects to {headers.get('Location')}: set url to where the appliance is"
    else:
        message = f"The server answered {status}, not as Posthorn does: {body}"
    retryable = code != "account_paused" and (
        status >= 500 or code in ("rate_limit_exceeded", "concurrent_idempotent_request"))
    return _kind_of(code, status)(message, code=code, status=status, body=body, request_id=headers.get("X-Request-Id"),
                                  attempts=attempts, retryable=retryable, retry_after=_retry_after(headers))


def _kind_of(code: str, status: int) -> type:
    if code == "account_paused":
        return AccountPausedError
    if code in ("daily_quota_exceeded", "monthly_quota_exceeded"):
        return QuotaError
    if code == "rate_limit_exceeded":
        return RateLimitError
    by_status = {401: AuthenticationError, 402: PermissionDeniedError, 403: PermissionDeniedError, 404: NotFoundError,
                 409: ConflictError}
    if status >= 500:
        return ServerError
    return by_status.get(status, ValidationError if status >= 400 else PosthornError)


def _retry_after(headers: Mapping[str, str]) -> Optional[float]:
    value = (headers.get("Retry-After") or "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _wait_for(error: PosthornError, backoff: float, chance: Callable[[], float]) -> Optional[float]:
    if error.code == "account_paused":
        return None
    if error.code == "concurrent_idempotent_request":
        return 0.5 + chance() * 1.5
    if error.code == "rate_limit_exceeded" or error.status in (500, 502, 503, 504):
        return backoff if error.retry_after is None else error.retry_after
    return None


def read_webhook(raw_body: bytes, header: Optional[str], secret: Union[str, Sequence[str]], *, tolerance: float = 300,
                 now: Optional[float] = None) -> WebhookPayload:
    """The event in a webhook, after its signature was verified over the body as it was received. `header` is that of
    Svc-Signature; while a secret is being replaced, give both. Raises a WebhookVerificationError: answer 400. An empty
    secret is a ValueError: everybody could sign with it."""
    secrets = list(secret) if isinstance(secret, (list, tuple)) else [secret]
    if not secrets or not all(isinstance(one, str) and one.strip() for one in secrets):
        raise ValueError("The secret of the webhook is empty or no text; give that of the webhook's page")
    if header is None:
        raise WebhookVerificationError("There is no Svc-Signature", "missing")
    if not isinstance(header, str):
        raise ValueError("The header is no text; give the value of Svc-Signature, not all headers")
    fields = [field.strip() for field in header.split(",")]
    times = [field for field in fields if field.startswith("t=")]
    digests = [field[3:].lower() for field in fields if re.fullmatch(r"v1=[0-9a-fA-F]{64}", field)]
    if len(times) != 1 or not re.fullmatch(r"t=[0-9]{1,12}", times[0]) or not digests:
        raise WebhookVerificationError("Svc-Signature is not t=...,v1=...", "malformed")
    at = times[0][2:]
    if abs((time.time() if now is None else now) - int(at)) > tolerance:
        raise WebhookVerificationError("Svc-Signature is of another time", "old")
    good = False
    for one in secrets:
        expected = hmac.new(one.encode(), at.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
        for digest in digests:
            # Checks all of them, each in constant time, so that the time reveals nothing.
            good = hmac.compare_digest(digest, expected) or good
    if not good:
        raise WebhookVerificationError("Svc-Signature does not fit the body", "signature")
    return json.loads(raw_body)
