"""Sign in with real clients, through the proxy, at a server that wants OAuth."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.request import urlopen

from tests.extensions.proxy.test_http_app import http_proxy
from tests.extensions.proxy.test_oauth_proxy import oauth_server

from . import codex
from .setup import Setup
from .steps import PATIENCE, Steps, end_group, run_program

SCRIPT = Path(__file__).with_name("sign_in.mjs")
CONFIG = 'mcp_oauth_credentials_store = "file"\n[mcp_servers.notes]\nurl = "{url}"\n'
PAGE = re.compile(r"http://127\.0\.0\.1:\d+/(?:oauth/)?authorize\S*")

SignInAt = Callable[[Setup, Path, str, str], None]
"""Signs in with a client at a URL and calls a tool. The last argument names the server in names of folders."""


def check_sdk(steps: Steps, setup: Setup, programs: Path) -> None:
    """Check the TypeScript SDK, which the Inspector brings."""
    _check(steps, setup, programs, "TypeScript SDK", _sign_in_sdk)


def check_codex(steps: Steps, setup: Setup, programs: Path) -> None:
    """Check Codex."""
    _check(steps, setup, programs, "codex", _sign_in_codex)


def _check(steps: Steps, setup: Setup, programs: Path, client: str, sign_in: SignInAt) -> None:
    """Sign in at the server itself, and through the proxy."""
    with oauth_server() as servers:
        url = f"{servers['server']}/mcp"
        steps.run(
            f"{client}: signs in at the server itself and calls", partial(sign_in, setup, programs, url, "direct")
        )
        with http_proxy(setup.scratch / "kept", "--url", url) as proxied:
            name = f"{client}: signs in through the proxy and calls"
            steps.run(name, partial(sign_in, setup, programs, proxied, "proxied"))


def _sign_in_sdk(setup: Setup, programs: Path, url: str, _: str) -> None:
    command = [str(programs / "node"), str(SCRIPT), str(programs.parent), url]
    done = run_program(command, setup.client_env(programs), setup.scratch)
    assert done.returncode == 0, done.stderr[-500:]
    assert json.loads(done.stdout) == {"refusal": "UnauthorizedError", "text": "note 3"}, done.stdout


def _sign_in_codex(setup: Setup, programs: Path, url: str, name: str) -> None:
    home = setup.scratch / f"codex-{name}"
    home.mkdir()
    (home / "config.toml").write_text(CONFIG.format(url=url), "utf-8")
    env = {**setup.client_env(programs), "CODEX_HOME": str(home), "BROWSER": "true"}
    with _login(programs, env, setup.scratch) as lines:
        page = next(found[0] for line in lines if (found := PAGE.search(line)))
        with urlopen(page, timeout=PATIENCE) as answer:  # noqa: S310 - follows redirects on loopback, as a browser does
            assert answer.status == 200
        assert "Successfully logged in" in "".join(lines)
    with codex.app_server(programs, env, setup.scratch) as server:
        thread = server.request("thread/start", {"cwd": str(setup.scratch), "ephemeral": True})["thread"]["id"]
        params = {"threadId": thread, "server": "notes", "tool": "note", "arguments": {"number": 3}}
        result = server.request("mcpServer/tool/call", params)
        assert result["content"][0]["text"] == "note 3", result


@contextmanager
def _login(programs: Path, env: dict[str, str], folder: Path) -> Iterator[Iterator[str]]:
    """Run `codex mcp login`, and yield the lines that it prints."""
    command = [str(programs / "codex"), "mcp", "login", "notes"]
    with subprocess.Popen(
        command, env=env, cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    ) as process:  # fmt: skip
        watchdog = threading.Timer(PATIENCE, end_group, [process])  # reading its output has no timeout
        watchdog.start()
        try:
            assert process.stdout
            yield process.stdout
        finally:
            watchdog.cancel()
            end_group(process)
