"""The arguments of programs that are secrets, in commands as shells read them."""

from __future__ import annotations

import pytest

from keyhole.text.secrets.commands import find_arguments
from keyhole.text.secrets.programs import TABLE


def mask(text: str) -> str:
    for start, end in sorted(find_arguments(text), reverse=True):
        text = f"{text[:start]}***{text[end:]}"
    return text


@pytest.mark.parametrize(
    ("command", "masked"),
    [
        ("redis-cli -a hunter2 ping", "redis-cli -a *** ping"),
        ("mysql -u root -phunter2 app", "mysql -u root -p*** app"),
        ("mysql -u root -p app", "mysql -u root -p app"),
        ("curl -sSu me:hunter2 u", "curl -sSu me:*** u"),
        ('curl -u "me:two words" u', 'curl -u "me:***" u'),
        ("curl --user=me:hunter2 u", "curl --user=me:*** u"),
        ("curl -su https://example.org", "curl -su https://example.org"),
        ("smbclient -U 'dom\\me%hunter2' //h/s", "smbclient -U 'dom\\me%***' //h/s"),
        ("sqlplus me/hun@ter2@db", "sqlplus me/***@db"),
        ("htpasswd -bC 10 file me hunter2", "htpasswd -bC 10 file me ***"),
        ("htpasswd -c file me", "htpasswd -c file me"),
        ("mkpasswd -m sha-512 hunter2", "mkpasswd -m sha-512 ***"),
        ("nmcli c modify a wifi-sec.psk hunter2", "nmcli c modify a wifi-sec.psk ***"),
        ("npm config set //r/:_authToken hunter2", "npm config set //r/:_authToken ***"),
        ("vault kv put secret/a user=me pin=1234", "vault kv put secret/a user=*** pin=***"),
        ("xfreerdp /u:me /p:hunter2 /v:h", "xfreerdp /u:me /p:*** /v:h"),
        ("usermod -p '$6$salt$hash' me", "usermod -p '***' me"),
        ("redis-cli -a $PASSWORD", "redis-cli -a $PASSWORD"),
        ("redis-cli -a '#hunter2'", "redis-cli -a '***'"),
        ("/usr/bin/redis-cli -a hunter2", "/usr/bin/redis-cli -a ***"),
        (r"C:\bin\plink.exe -pw hunter2 h", r"C:\bin\plink.exe -pw *** h"),
    ],
)  # fmt: skip
def test_an_option_or_a_place_carries_the_secret(command: str, masked: str) -> None:
    assert mask(command) == masked


@pytest.mark.parametrize(
    "command",
    [
        "A=b redis-cli -a hunter2", "sudo -u me redis-cli -a hunter2", "cd /a && time redis-cli -a hunter2",
        "env -i B=c timeout 3 redis-cli -a hunter2", "if redis-cli -a hunter2; then a; fi", "(redis-cli -a hunter2)",
        "ssh me@h 'redis-cli -a hunter2'", 'ssh me@h "sh -c \'redis-cli -a hunter2\'"', 'a "$(redis-cli -a hunter2)"',
        "a `redis-cli -a hunter2` b", "docker exec -it c redis-cli -a hunter2", "a | xargs redis-cli -a hunter2",
        "kubectl exec p -- redis-cli -a hunter2", "> out redis-cli -a hunter2", "redis-cli \\\n  -a hunter2 ping",
        "a\nredis-cli -a hunter2\nb", "redis-cli $(a b) -a hunter2", "redis-cli -a hunter2 2>&1 | tee log",
    ],
)  # fmt: skip
def test_a_program_is_found_wherever_a_shell_finds_it(command: str) -> None:
    assert mask(command) == command.replace("hunter2", "***")


@pytest.mark.parametrize(
    "command",
    [
        "chpasswd <<< me:hunter2", "chpasswd <<<'me:hunter2'", "echo me:hunter2 | sudo chpasswd",
        r"printf '%s\n' hunter2 | sudo -S ls", "echo -n hunter2 | tr a b | cryptsetup open d n -",
        "(echo hunter2; echo hunter2) | smbpasswd -s me", "yes hunter2 | passwd me",
        "echo hunter2 | docker login -u me --password-stdin r", "sudo -S ls <<< hunter2",
    ],
)  # fmt: skip
def test_what_a_program_reads_is_masked(command: str) -> None:
    assert mask(command) == command.replace("hunter2", "***")


@pytest.mark.parametrize(
    "text",
    [
        "echo hello | sudo tee file", "grep redis-cli -a notes.txt", "man redis-cli", "vault login page",
        "git commit -m 'describe redis-cli -a hunter2'", "python -u train.py -p fast", "ps -u me -p 123",
        "docker run -u 1000:1000 -p 8080:80 image", "rsync -u -p a b", "a ' b \" c ` d $( e ) f",
    ],
)  # fmt: skip
def test_other_commands_and_texts_are_left_alone(text: str) -> None:
    assert mask(text) == text


def test_a_program_that_is_not_known_takes_a_user_and_a_password() -> None:
    assert mask("newtool -u me -p hunter2 host") == "newtool -u me -p *** host"


def test_each_line_of_the_table_can_be_read() -> None:
    for line in TABLE.strip().splitlines():
        programs, colon, arguments = line.partition(": ")
        assert programs
        assert colon
        assert arguments, line


def test_no_program_is_listed_twice_for_the_same_command() -> None:
    heads = [line.partition(": ")[0].partition(" | ") for line in TABLE.strip().splitlines()]
    seen = [(program, words) for programs, _, words in heads for program in programs.split()]
    assert [each for each in seen if seen.count(each) > 1] == []
