"""A reranker and an embedding server in a process of its own, which speak the wire formats and fail on demand.

`python tests/support/scorer_server.py` prints its port and serves until killed. Nothing is random: a reranker's score is the
share of the query's words in the text, a vector has a bag of words hashed into 64 numbers. The address says what goes
wrong: `/FAULT/SESSION/...`, with `-` for nothing; `GET /SESSION` tells what was asked in a session.

Shapes, by the end of the path: /v1/rerank as Jina, vLLM, Infinity and llama.cpp; /v2/rerank as Cohere, which refuses
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
"""A batch in which this word stands fails under the fault `poison`."""
ASKED: dict[str, list[dict[str, Any]]] = defaultdict(list)
LOCK = threading.Lock()
FOREVER = threading.Event()


class RefusalError(Exception):
    """A status with a body."""

    def __init__(self, status: int, body: str, **headers: str) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body.encode(), headers


def words(text: str) -> list[str]:
    """Words in lower case."""
    return re.findall(r"\w+", text.lower())


def overlap(query: str, text: str) -> float:
    """The share of the query's words that the text has."""
    wanted = set(words(query))
    return len(wanted & set(words(text))) / max(1, len(wanted))


def vector(text: str) -> list[float]:
    """The text's words counted by their hash; the last number keeps it from being zero."""
    counts = [0.0] * DIMENSIONS
    for word in words(text):
        counts[zlib.crc32(word.encode()) % (DIMENSIONS - 1)] += 1.0
    return [*counts[:-1], 0.01]


def rerank(path: str, asked: dict[str, Any]) -> Any:
    """The answer of the kind of server that the path names."""
    texts = asked.get("documents")
    allowed = {"model", "query", "documents", "top_n", "max_tokens_per_doc"}
    if path.endswith("/v2/rerank") and (unknown := set(asked) - allowed):
        raise RefusalError(422, f"unknown field: parameter '{min(unknown)}' is not a valid field")
    if path.endswith("/tei/rerank"):
        texts = asked.get("texts")
        if texts is None:
            raise RefusalError(422, "Failed to deserialize the JSON body into the target type: missing field `texts`")
    if not isinstance(texts, list):
        raise RefusalError(422, '{"detail": "documents: field required"}')
    name = "score" if path.endswith("/tei/rerank") else "relevance_score"
    rows = [{"index": at, name: overlap(asked["query"], text)} for at, text in enumerate(texts)]
    rows.sort(key=lambda row: -row[name])  # best first, as all of them answer
    if path.endswith("/tei/rerank"):
        return rows
    if path.endswith("/voyage/rerank"):
        return {"object": "list", "data": rows, "model": asked["model"], "usage": {"total_tokens": 9}}
    return {"id": "1", "model": asked.get("model"), "results": rows, "usage": {"total_tokens": 9}}


def embed(asked: dict[str, Any]) -> Any:
    """An OpenAI-compatible answer; rows in reverse, since `index` is what counts."""
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(asked["input"])]
    return {"object": "list", "data": rows[::-1], "model": asked.get("model"), "usage": {"total_tokens": 9}}


def rows_of(answer: Any) -> list[dict[str, Any]]:
    """The rows of an answer of any shape."""
    found: list[dict[str, Any]] = answer if isinstance(answer, list) else answer.get("results", answer.get("data"))
    return found


def _with(value: object) -> Callable[[Any], Any]:
    """A fault: the first row has this value as its score, or as a number of its vector."""

    def spoilt(answer: Any) -> Any:
        row = rows_of(answer)[0]
        if "embedding" in row:
            row["embedding"][3] = value
        else:
            row["score" if "score" in row else "relevance_score"] = value
        return answer

    return spoilt


def _index(value: object) -> Callable[[Any], Any]:
    def spoilt(answer: Any) -> Any:
        rows_of(answer)[0]["index"] = value
        return answer

    return spoilt


def _fewer(answer: Any) -> Any:
    rows_of(answer).pop()
    return answer


def _repeated(answer: Any) -> Any:
    rows_of(answer)[0]["index"] = rows_of(answer)[1]["index"] if len(rows_of(answer)) > 1 else 7
    return answer


SPOILT: dict[str, Callable[[Any], Any]] = {
    "nan": _with(float("nan")),
    "infinity": _with(float("inf")),
    "null": _with(None),
    "text": _with("0.9"),
    "true": _with(True),
    "huge": _with(10**400),
    "fewer": _fewer,
    "twice": _repeated,
    "outside": _index(10_000),
    "negative": _index(-1),
    "nameless": _index(None),
    "norows": lambda answer: {"message": "well"},
    "number": lambda answer: 42,
    "strings": lambda answer: {"results": ["a"] * len(rows_of(answer)), "data": ["a"] * len(rows_of(answer))},
}


def check(fault: str, asked: dict[str, Any], key: str, turn: int) -> None:
    """What goes wrong before there is an answer."""
    if fault == "slow":
        FOREVER.wait()
    if fault.isdigit():
        raise RefusalError(int(fault), json.dumps({"error": f"bad key {key} for {asked}"}))
    if fault == "key" and key != f"Bearer {KEY}":
        raise RefusalError(401, f"invalid key {key}")
    if fault == "poison" and any(POISON in text for text in asked["input"]):
        raise RefusalError(500, "boom")
    if fault == "stuck" and any(POISON in text for text in asked["input"]):
        FOREVER.wait()
    if fault == "twofail" and turn <= 2:
        raise RefusalError(503, "loading")
    if fault == "busy" and turn == 1:
        raise RefusalError(429, "slow down", **{"Retry-After": "7"})


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, fault, session, rest = self.path.split("/", 3)
        key = self.headers.get("Authorization", "")
        with LOCK:
            ASKED[session].append({"path": self.path, "key": key, "body": asked})
            turn = len(ASKED[session])
        try:
            check(fault, asked, key, turn)
            answer = embed(asked) if rest.endswith("embeddings") else rerank(self.path, asked)
        except RefusalError as refused:
            self._say(refused.status, refused.body, refused.headers)
            return
        body = json.dumps(SPOILT.get(fault, lambda given: given)(answer)).encode()
        self._say(200, b"<html>proxy" if fault == "garbage" else body, {})

    def do_GET(self) -> None:
        with LOCK:
            self._say(200, json.dumps(ASKED[self.path.strip("/")]).encode(), {})

    def _say(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def main() -> int:
    """Serve until killed, or until whoever started this is gone."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
