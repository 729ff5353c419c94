"""Run another gateway in front of a server, in an interpreter that has it. This script imports nothing of Keyhole.

PYTHON benchmarks/proxy/gateways/peers.py fastmcp|governor BUDGET COMMAND…
PYTHON benchmarks/proxy/gateways/peers.py versions
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version


def run_fastmcp(budget: int, command: list[str]) -> None:
    """Run FastMCP's proxy with its response limiter."""
    from fastmcp.client.transports import StdioTransport
    from fastmcp.server import create_proxy
    from fastmcp.server.middleware.response_limiting import ResponseLimitingMiddleware

    proxy = create_proxy(StdioTransport(command[0], command[1:]))
    proxy.add_middleware(ResponseLimitingMiddleware(max_size=budget))
    proxy.run(transport="stdio", show_banner=False)


def run_governor(budget: int, command: list[str]) -> None:
    """Run tool-result-size-governor, whose command line has no option for the budget, with this one."""
    from tool_result_governor import governor, proxy

    default = governor.Budget(max_bytes=budget, max_tokens=budget // 4)
    create = governor.Governor
    proxy.Governor = lambda *args, **options: create(*args, default_budget=default, **options)
    sys.exit(proxy.main(["--", *command]))


def main() -> None:
    """Run the gateway that the command line names."""
    if sys.argv[1] == "versions":
        json.dump({name: version(name) for name in ("fastmcp", "tool-result-size-governor")}, sys.stdout)
        return
    run = {"fastmcp": run_fastmcp, "governor": run_governor}[sys.argv[1]]
    run(int(sys.argv[2]), sys.argv[3:])


if __name__ == "__main__":
    main()
