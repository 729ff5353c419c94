"""What stands in deploy/: linted, valid by its schemas, hardened, and set as this server takes it.

`tests/packaging/containerfile.py` builds and runs what the Containerfile says; test_deploy_proxy.py has a real nginx.
"""

from __future__ import annotations

import ipaddress
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keyhole.config.config import Config, parse_config
from keyhole.serve.http.limits.shared import link
from tests.packaging.containerfile import FILE, Instruction, instructions, last
from tests.support.documentation import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML reads the manifests")

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
MANIFESTS = [
    document
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    if document["kind"] != "Kustomization"
]


def manifest(kind: str) -> dict[str, Any]:
    (found,) = (one for one in MANIFESTS if one["kind"] == kind)
    return dict(found)


def pod() -> dict[str, Any]:
    return dict(manifest("Deployment")["spec"]["template"]["spec"])


def program(name: str) -> str:
    """A tool beside this interpreter, or in PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found


# The Containerfile.

PIP = re.compile(r"\bpip (?:--python \S+ )?(?:install|download|wheel)\b")


def image() -> list[Instruction]:
    return instructions(FILE.read_text(encoding="utf-8"))


def test_the_containerfile_has_no_fault_that_a_linter_knows() -> None:
    run = subprocess.run([program("hadolint"), "--no-color", FILE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_the_image_runs_as_a_user_with_a_number_and_checks_its_health_by_itself() -> None:
    found = image()
    assert last(found, "USER").value == "10001:10001"
    assert last(found, "STOPSIGNAL").value == "SIGTERM"
    assert "/healthz" in last(found, "HEALTHCHECK").value
    assert "curl" not in last(found, "HEALTHCHECK").value
    assert last(found, "ENTRYPOINT").words == ["/opt/keyhole/bin/keyhole"]
    assert last(found, "CMD").words == ["serve", "--http", "--host", "0.0.0.0"]


def test_whatever_pip_installs_in_the_image_is_pinned_with_hashes() -> None:
    commands = [part for one in image() if one.name == "RUN" for part in one.value.split("&&") if PIP.search(part)]
    assert len(commands) == 4
    for command in commands:
        assert "--require-hashes" in command or "--no-index" in command, command


def test_nothing_but_what_is_copied_gets_into_the_build() -> None:
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8")
    assert (ROOT / ".dockerignore").read_text(encoding="utf-8") == ignored
    let_in = set(re.findall(r"(?m)^!(.+)$", ignored))
    copied = {name for one in image() if one.name == "COPY" and one.stage == 1 for name in one.value.split()[:-1]}
    assert let_in == {name.removeprefix("./") for name in copied}
    assert all((ROOT / name).exists() for name in copied)


# Compose.


def test_the_compose_file_is_valid() -> None:
    checker = program("check-jsonschema")
    schema = ["--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yaml")]
    run = subprocess.run([checker, *schema], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_service_is_held_to_what_it_needs(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["cpus"]


def test_no_secret_stands_in_an_environment_of_the_compose_file() -> None:
    for name, service in COMPOSE["services"].items():
        for variable, value in service.get("environment", {}).items():
            assert not re.search(r"PASSWORD$|SECRET|TOKEN$|_KEY$", variable), f"{name}: {variable}"
            assert not re.search(r"//[^/@]*:[^/@]*@", str(value)), f"{name}: {variable} holds a password"
    for secret in COMPOSE["secrets"].values():
        folder = secret["file"].removeprefix("./").partition("/")[0]
        assert f"deploy/{folder}/" in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_secrets_reach_a_replica_from_files_and_its_arguments_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "postgres_password").write_text("a b$c\n")
    (tmp_path / "metrics_token").write_text("m\n")
    service = COMPOSE["services"]["keyhole-1"]
    show = f"{shlex.quote(sys.executable)} -c 'import os, sys; print(os.environ[\"PGPASSWORD\"], sys.argv[1:])'"
    *shell, script, name = [word.replace("$$", "$") for word in service["entrypoint"]]
    script = script.replace("/run/secrets", str(tmp_path)).replace("/opt/keyhole/bin/keyhole", show)
    run = subprocess.run([*shell, script, name, *service["command"]], capture_output=True, text=True, check=False)
    assert run.stdout == "a b$c ['serve', '--http', '--host', '0.0.0.0']\n"
    (tmp_path / "metrics_token").unlink()
    run = subprocess.run([*shell, script, name, *service["command"]], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, "")


def test_nobody_but_the_proxy_is_reached_from_outside_and_the_database_reaches_nobody() -> None:
    assert [name for name, service in COMPOSE["services"].items() if service.get("ports")] == ["proxy"]
    assert COMPOSE["services"]["postgres"]["networks"] == ["store"]
    assert COMPOSE["networks"]["store"] == {"internal": True}


def settings_of_compose() -> Config:
    given = COMPOSE["services"]["keyhole-1"]["environment"]
    return parse_config(
        {name: re.sub(r"\$\{KEYHOLE_NAME[^}]*\}", "mcp.example.com", value) for name, value in given.items()}
    )


def settings_of_kubernetes() -> Config:
    secret = manifest("Secret")["stringData"]
    return parse_config(
        {**manifest("ConfigMap")["data"], **{name: value for name, value in secret.items() if name.isupper()}}
    )


@pytest.mark.parametrize("settings", [settings_of_compose, settings_of_kubernetes])
def test_replicas_are_set_as_the_server_takes_it_and_end_their_calls_before_they_are_killed(settings: Any) -> None:
    config = settings()
    assert config.stateless
    assert config.allowed_hosts
    assert config.tokens_file
    assert config.store.startswith("postgresql://")
    assert config.drain_seconds > max(config.search_timeout, config.timeout)
    compose = COMPOSE["services"]["keyhole-1"]
    assert int(compose["stop_grace_period"].removesuffix("s")) >= config.drain_seconds + 10
    pause = int(pod()["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod()["terminationGracePeriodSeconds"] >= config.drain_seconds + pause + 5


# Kubernetes.


@pytest.mark.parametrize("document", MANIFESTS, ids=lambda document: str(document["kind"]))
def test_a_manifest_is_valid(document: dict[str, Any]) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    validate.validate(document, str(validate.latest_version()), strict=True)


def test_pods_are_unprivileged_and_get_no_environment_that_they_did_not_ask_for() -> None:
    spec = pod()
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert str(spec["securityContext"]["runAsUser"]) == last(image(), "USER").value.partition(":")[0]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False  # KEYHOLE_PORT=tcp://… would be a setting that there is not
    assert container["args"] == last(image(), "CMD").words
    assert {probe: container[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")} == {
        "livenessProbe": "/healthz", "readinessProbe": "/readyz",
    }  # fmt: skip


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "198.18.0.1", "::1", "fd00:ec2::254", "fe80::1", "ff02::1", "::ffff:10.0.0.1",
        "64:ff9b::a00:1", "2002:a00:1::", "2001::1",
    ],
)  # fmt: skip
def test_pods_reach_the_web_and_nothing_private(address: str) -> None:
    rules = manifest("NetworkPolicy")["spec"]["egress"]
    (web,) = (rule["to"] for rule in rules if {"protocol": "TCP", "port": 443} in rule["ports"])
    assert not any(within(address, place["ipBlock"]) for place in web)
    assert any(within("93.184.215.14", place["ipBlock"]) for place in web)
    assert any(within("2606:2800:21f:cb07::1", place["ipBlock"]) for place in web)


def within(address: str, block: dict[str, Any]) -> bool:
    def held(network: str) -> bool:
        return ipaddress.ip_address(address) in ipaddress.ip_network(network)

    return held(block["cidr"]) and not any(held(network) for network in block.get("except", []))


def test_connections_of_all_replicas_stay_below_what_postgresql_allows() -> None:
    (scaler,) = (one for one in MANIFESTS if one["kind"] == "HorizontalPodAutoscaler")
    surge = manifest("Deployment")["spec"]["strategy"]["rollingUpdate"]["maxSurge"]
    each = settings_of_kubernetes().store_connections + 2 * link.CONNECTIONS  # the limits of tenants and of sites
    assert (scaler["spec"]["maxReplicas"] + surge) * each <= 97  # of PostgreSQL's 100, three are its administrators'


# What the documentation says of it.


def test_the_page_on_hosting_names_files_and_settings_that_there_are() -> None:
    text = (ROOT / "docs" / "hosting" / "hosting.md").read_text(encoding="utf-8")
    known = {f"KEYHOLE_{name.upper()}" for name in Config.__dataclass_fields__} | {
        "KEYHOLE_NAME",
        "KEYHOLE_PORT",
    }  # compose's, and Kubernetes' own
    assert set(re.findall(r"KEYHOLE_[A-Z_]+", text)) <= known
    for path in re.findall(r"`((?:deploy|benchmarks|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


def test_the_alerts_of_the_page_on_watching_are_rules_of_metrics_that_there_are() -> None:
    text = (ROOT / "docs" / "hosting" / "watching.md").read_text(encoding="utf-8")
    table = set(re.findall(r"`(keyhole_\w+)`", text))
    (block,) = (block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "alert:" in block)
    (group,) = yaml.safe_load(block)["groups"]
    assert len(group["rules"]) >= 5
    for rule in group["rules"]:
        assert rule.keys() == {"alert", "expr", "for", "annotations"}
        assert json.dumps(rule["annotations"]["summary"])
        named = re.findall(r"keyhole_\w+", rule["expr"])
        assert {name.removesuffix("_bucket") for name in named} <= table
