"""The files of deploy/ pass linters and schemas, are hardened, and have settings that the server accepts.

`tests/packaging/containerfile.py` runs the steps of the Containerfile; test_deploy_proxy.py runs nginx.
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

from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.extensions.hosted.telemetry import Metrics
from tests.packaging.containerfile import FILE, Instruction, last_instruction, parse_instructions
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
    """Return the path of a program beside this interpreter or in PATH; skip the test if there is none."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found


# The Containerfile.

PIP = re.compile(r"\bpip (?:--python \S+ )?(?:install|download|wheel)\b")


def image() -> list[Instruction]:
    return parse_instructions(FILE.read_text(encoding="utf-8"))


def test_the_containerfile_passes_the_linter() -> None:
    run = subprocess.run([program("hadolint"), "--no-color", FILE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_the_image_has_a_numeric_user_and_a_health_check() -> None:
    found = image()
    assert last_instruction(found, "USER").value == "10001:10001"
    assert last_instruction(found, "STOPSIGNAL").value == "SIGTERM"
    assert "/healthz" in last_instruction(found, "HEALTHCHECK").value
    assert "curl" not in last_instruction(found, "HEALTHCHECK").value
    assert last_instruction(found, "ENTRYPOINT").words == ["/opt/keyhole/bin/keyhole"]
    assert last_instruction(found, "CMD").words == ["serve", "--http", "--host", "0.0.0.0"]


def test_everything_that_pip_installs_in_the_image_is_pinned_with_hashes() -> None:
    commands = [part for one in image() if one.name == "RUN" for part in one.value.split("&&") if PIP.search(part)]
    assert len(commands) == 4
    for command in commands:
        assert "--require-hashes" in command or "--no-index" in command, command


def test_the_build_context_contains_only_the_copied_files() -> None:
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8")
    assert (ROOT / ".dockerignore").read_text(encoding="utf-8") == ignored
    included = set(re.findall(r"(?m)^!(.+)$", ignored))
    copied = {name for one in image() if one.name == "COPY" and one.stage == 1 for name in one.value.split()[:-1]}
    assert included == {name.removeprefix("./") for name in copied}
    assert all((ROOT / name).exists() for name in copied)


# Compose.


def test_the_compose_files_are_valid() -> None:
    checker = program("check-jsonschema")
    schema = ["--builtin-schema", "vendor.compose-spec", *map(str, sorted(DEPLOY.glob("compose*.yaml")))]
    run = subprocess.run([checker, *schema], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_the_replicas_with_a_browser_are_those_of_the_compose_file_with_more_memory() -> None:
    browser = yaml.safe_load((DEPLOY / "compose.browser.yaml").read_text(encoding="utf-8"))
    for name, service in browser["services"].items():
        plain = COMPOSE["services"][name]
        assert f"FROM server AS {service['build']['target']}\n" in (DEPLOY / "Containerfile").read_text("utf-8")
        assert service["build"]["dockerfile"] == plain["build"]["dockerfile"]
        assert int(service["mem_limit"].removesuffix("g")) >= int(plain["mem_limit"].removesuffix("g")) + 2
        assert {volume["target"] for volume in service["volumes"]} <= {
            volume["target"] for volume in plain["volumes"] if isinstance(volume, dict)
        }
    (environment,) = [one.value for one in image() if one.name == "ENV" and one.stage == 3]
    config = parse_config(dict(pair.split("=", 1) for pair in environment.split()))
    assert config.render == "auto"
    assert config.browser


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_service_is_unprivileged_and_has_limits(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["cpus"]


def test_no_environment_of_the_compose_file_has_a_secret() -> None:
    for name, service in COMPOSE["services"].items():
        for variable, value in service.get("environment", {}).items():
            assert not re.search(r"PASSWORD$|SECRET|TOKEN$|_KEY$", variable), f"{name}: {variable}"
            assert not re.search(r"//[^/@]*:[^/@]*@", str(value)), f"{name}: {variable} contains a password"
    for secret in COMPOSE["secrets"].values():
        folder = secret["file"].removeprefix("./").partition("/")[0]
        assert f"deploy/{folder}/" in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_a_replica_reads_secrets_from_files_and_gets_its_arguments_unchanged(tmp_path: Path) -> None:
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


def test_only_the_proxy_has_ports_and_the_database_has_only_an_internal_network() -> None:
    assert [name for name, service in COMPOSE["services"].items() if service.get("ports")] == ["proxy"]
    assert COMPOSE["services"]["postgres"]["networks"] == ["store"]
    assert COMPOSE["networks"]["store"] == {"internal": True}


def settings_of_compose() -> Config:
    environment = COMPOSE["services"]["keyhole-1"]["environment"]
    return parse_config(
        {name: re.sub(r"\$\{KEYHOLE_NAME[^}]*\}", "mcp.example.com", value) for name, value in environment.items()}
    )


def settings_of_kubernetes() -> Config:
    secret = {name: value for name, value in manifest("Secret")["stringData"].items() if name.isupper()}
    return parse_config({**manifest("ConfigMap")["data"], **secret})


@pytest.mark.parametrize("settings", [settings_of_compose, settings_of_kubernetes])
def test_replicas_have_valid_settings_and_time_to_finish_their_calls(settings: Any) -> None:
    config = settings()
    assert config.stateless
    assert config.allowed_hosts
    assert config.tokens_file
    assert config.store.startswith("postgresql://")
    assert config.drain_seconds > config.search_timeout
    compose = COMPOSE["services"]["keyhole-1"]
    assert int(compose["stop_grace_period"].removesuffix("s")) >= config.drain_seconds + 10
    pause = int(pod()["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod()["terminationGracePeriodSeconds"] >= config.drain_seconds + pause + 5


# Kubernetes.


@pytest.mark.parametrize("document", MANIFESTS, ids=lambda document: str(document["kind"]))
def test_a_manifest_is_valid(document: dict[str, Any]) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    validate.validate(document, str(validate.latest_version()), strict=True)


def test_pods_are_unprivileged_and_get_no_service_links() -> None:
    spec = pod()
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert str(spec["securityContext"]["runAsUser"]) == last_instruction(image(), "USER").value.partition(":")[0]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False  # else KEYHOLE_PORT=tcp://… would be an unknown setting
    assert container["args"] == last_instruction(image(), "CMD").words
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
def test_pods_reach_public_addresses_but_not_private_ones(address: str) -> None:
    rules = manifest("NetworkPolicy")["spec"]["egress"]
    (web,) = (rule["to"] for rule in rules if {"protocol": "TCP", "port": 443} in rule["ports"])
    assert not any(within(address, place["ipBlock"]) for place in web)
    assert any(within("93.184.215.14", place["ipBlock"]) for place in web)
    assert any(within("2606:2800:21f:cb07::1", place["ipBlock"]) for place in web)


def within(address: str, block: dict[str, Any]) -> bool:
    def contains(network: str) -> bool:
        return ipaddress.ip_address(address) in ipaddress.ip_network(network)

    return contains(block["cidr"]) and not any(contains(network) for network in block.get("except", []))


def test_the_connections_of_all_replicas_stay_below_postgresql_s_limit() -> None:
    (scaler,) = (one for one in MANIFESTS if one["kind"] == "HorizontalPodAutoscaler")
    surge = manifest("Deployment")["spec"]["strategy"]["rollingUpdate"]["maxSurge"]
    each = settings_of_kubernetes().store_connections
    assert (scaler["spec"]["maxReplicas"] + surge) * each <= 97  # PostgreSQL reserves 3 of 100 for superusers


# The documentation.


def test_the_hosting_page_names_existing_files_and_settings() -> None:
    text = (ROOT / "docs" / "hosting" / "hosting.md").read_text(encoding="utf-8")
    known = {f"KEYHOLE_{name.upper()}" for name in Config.__dataclass_fields__} | {
        "KEYHOLE_NAME",
        "KEYHOLE_PORT",
    }  # a variable of compose.yaml, and one that Kubernetes would set
    assert set(re.findall(r"KEYHOLE_[A-Z_]+", text)) <= known
    for path in re.findall(r"`((?:deploy|benchmarks|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


def test_the_alerts_of_the_monitoring_page_are_valid_and_use_existing_metrics() -> None:
    text = (ROOT / "docs" / "hosting" / "monitoring.md").read_text(encoding="utf-8")
    table = set(re.findall(r"`(keyhole_\w+)`", text))
    (block,) = (block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "alert:" in block)
    (group,) = yaml.safe_load(block)["groups"]
    assert len(group["rules"]) >= 5
    for rule in group["rules"]:
        assert rule.keys() == {"alert", "expr", "for", "annotations"}
        assert json.dumps(rule["annotations"]["summary"])
        named = re.findall(r"keyhole_\w+", rule["expr"])
        assert {name.removesuffix("_bucket") for name in named} <= table


def test_the_dashboard_shows_every_metric_of_keyhole_and_no_other() -> None:
    pytest.importorskip("prometheus_client", reason="the extra hosted is not installed")
    families = list(Metrics().registry.collect())
    counters = {f"{family.name}_total" for family in families if family.type == "counter"}
    others = {family.name for family in families if family.type not in ("counter", "info")}
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    queries = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
    named = {name.removesuffix("_bucket") for name in re.findall(r"\b(?:keyhole|process)_\w+", queries)}
    assert named <= counters | others
    assert {name for name in counters | others if name.startswith("keyhole_")} <= named


def test_the_panels_of_the_dashboard_do_not_overlap_and_filter_by_job() -> None:
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places) == len({panel["id"] for panel in dashboard["panels"]})
    for target in (target for panel in dashboard["panels"] for target in panel["targets"]):
        assert target["expr"].count('job="$job"') == len(re.findall(r"\b(?:keyhole|process)_", target["expr"]))
