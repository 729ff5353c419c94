"""Serve a reranker and embeddings for tests, in the real wire formats and with faults on demand.

`python tests/support/scorer_server.py` prints its port and serves until killed. Nothing is random: a rerank score is
the share of the query's words in the text, and a vector is a bag of words hashed into 64 numbers. The path
`/FAULT/SESSION/...` selects a fault, `-` for none; `GET /SESSION` returns the recorded requests of a session.

Formats, by the end of the path: /v1/rerank as Jina, vLLM, Infinity and llama.cpp; /v2/rerank as Cohere, which rejects
unknown fields; /voyage/rerank with `data`; /tei/rerank with `texts` and a bare list; /v1/embeddings.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import zlib
from collections import defaultdict
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 64
KEY = "s3cret"
POISON = "poison"
"""A batch with this word fails under the fault `poison`, and never returns under the fault `stuck`."""
REQUESTS: dict[str, list[dict[str, Any]]] = defaultdict(list)
LOCK = threading.Lock()
NEVER = threading.Event()


class ResponseError(Exception):
    """An HTTP error response."""

    def __init__(self, status: int, body: str, **headers: str) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body.encode(), headers


def words(text: str) -> list[str]:
    """Return the words in lower case."""
    return re.findall(r"\w+", text.lower())


def overlap(query: str, text: str) -> float:
    """Return the share of the query's words that the text contains."""
    wanted = set(words(query))
    return len(wanted & set(words(text))) / max(1, len(wanted))


def vector(text: str) -> list[float]:
    """Count the words by their hash; the last number prevents a zero vector."""
    counts = [0.0] * DIMENSIONS
    for word in words(text):
        counts[zlib.crc32(word.encode()) % (DIMENSIONS - 1)] += 1.0
    return [*counts[:-1], 0.01]


def rerank(path: str, request: dict[str, Any]) -> Any:
    """Return the response of the server that the path names."""
    texts = request.get("documents")
    allowed = {"model", "query", "documents", "top_n", "max_tokens_per_doc"}
    if path.endswith("/v2/rerank") and (unknown := set(request) - allowed):
        raise ResponseError(422, f"unknown field: parameter '{min(unknown)}' is not a valid field")
    if path.endswith("/tei/rerank"):
        texts = request.get("texts")
        if texts is None:
            raise ResponseError(422, "Failed to deserialize the JSON body into the target type: missing field `texts`")
    if not isinstance(texts, list):
        raise ResponseError(422, '{"detail": "documents: field required"}')
    name = "score" if path.endswith("/tei/rerank") else "relevance_score"
    rows = [{"index": at, name: overlap(request["query"], text)} for at, text in enumerate(texts)]
    rows.sort(key=lambda row: -row[name])  # best first, as all these servers do
    if path.endswith("/tei/rerank"):
        return rows
    if path.endswith("/voyage/rerank"):
        return {"object": "list", "data": rows, "model": request["model"], "usage": {"total_tokens": 9}}
    return {"id": "1", "model": request.get("model"), "results": rows, "usage": {"total_tokens": 9}}


def embed(request: dict[str, Any]) -> Any:
    """Return an OpenAI-compatible response, with its rows in reverse order because `index` decides."""
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(request["input"])]
    return {"object": "list", "data": rows[::-1], "model": request.get("model"), "usage": {"total_tokens": 9}}


def rows_of(answer: Any) -> list[dict[str, Any]]:
    """Return the rows of a response in any format."""
    found: list[dict[str, Any]] = answer if isinstance(answer, list) else answer.get("results", answer.get("data"))
    return found


def _set_value(value: object) -> Callable[[Any], Any]:
    """Return a fault that puts a value into the first row, as its score or as a number of its vector."""

    def change(answer: Any) -> Any:
        row = rows_of(answer)[0]
        if "embedding" in row:
            row["embedding"][3] = value
        else:
            row["score" if "score" in row else "relevance_score"] = value
        return answer

    return change


def _set_index(value: object) -> Callable[[Any], Any]:
    def change(answer: Any) -> Any:
        rows_of(answer)[0]["index"] = value
        return answer

    return change


def _drop_row(answer: Any) -> Any:
    rows_of(answer).pop()
    return answer


def _repeat_index(answer: Any) -> Any:
    rows_of(answer)[0]["index"] = rows_of(answer)[1]["index"] if len(rows_of(answer)) > 1 else 7
    return answer


ANSWER_FAULTS: dict[str, Callable[[Any], Any]] = {
    "nan": _set_value(float("nan")),
    "infinity": _set_value(float("inf")),
    "null": _set_value(None),
    "text": _set_value("0.9"),
    "true": _set_value(True),
    "huge": _set_value(10**400),
    "fewer": _drop_row,
    "twice": _repeat_index,
    "outside": _set_index(10_000),
    "negative": _set_index(-1),
    "nameless": _set_index(None),
    "norows": lambda answer: {"message": "well"},
    "number": lambda answer: 42,
    "strings": lambda answer: {"results": ["a"] * len(rows_of(answer)), "data": ["a"] * len(rows_of(answer))},
}


def raise_fault(fault: str, request: dict[str, Any], key: str, turn: int) -> None:
    """Raise ResponseError or hang, for the faults that happen before a response is made."""
    if fault == "slow":
        NEVER.wait()
    if fault.isdigit():
        raise ResponseError(int(fault), json.dumps({"error": f"bad key {key} for {request}"}))
    if fault == "key" and key != f"Bearer {KEY}":
        raise ResponseError(401, f"invalid key {key}")
    if fault == "poison" and any(POISON in text for text in request["input"]):
        raise ResponseError(500, "boom")
    if fault == "stuck" and any(POISON in text for text in request["input"]):
        NEVER.wait()
    if fault == "twofail" and turn <= 2:
        raise ResponseError(503, "loading")
    if fault == "busy" and turn == 1:
        raise ResponseError(429, "slow down", **{"Retry-After": "7"})


class Handler(BaseHTTPRequestHandler):
    """Records a request and answers it."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, fault, session, rest = self.path.split("/", 3)
        key = self.headers.get("Authorization", "")
        with LOCK:
            REQUESTS[session].append({"path": self.path, "key": key, "body": request})
            turn = len(REQUESTS[session])
        try:
            raise_fault(fault, request, key, turn)
            answer = embed(request) if rest.endswith("embeddings") else rerank(self.path, request)
        except ResponseError as error:
            self._send(error.status, error.body, error.headers)
            return
        body = json.dumps(ANSWER_FAULTS.get(fault, lambda unchanged: unchanged)(answer)).encode()
        self._send(200, b"<html>proxy" if fault == "garbage" else body, {})

    def do_GET(self) -> None:
        with LOCK:
            self._send(200, json.dumps(REQUESTS[self.path.strip("/")]).encode(), {})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def main() -> int:
    """Serve until killed, or until standard input is closed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
