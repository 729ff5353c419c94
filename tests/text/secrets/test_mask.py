"""Masking of secrets in command lines: every kept shape is masked, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.outputs.corpus import load_outputs
from benchmarks.secrets.__main__ import is_masked, is_unchanged
from benchmarks.secrets.lines import load_lines
from keyhole.text.secrets.mask import mask_secrets
from keyhole.text.secrets.shapes import SHAPES
from tests.support.machine import allowed

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 4  # no key of anyone

MASKED = {
    "aws s3 ls --profile AKIA" + "ABCDEFGHIJKLMNOP": "aws s3 ls --profile ***",
    "gh auth login ghp_" + LETTERS[:36]: "gh auth login ***",
    "echo github_pat_" + LETTERS[:60]: "echo ***",
    "curl -H 'PRIVATE-TOKEN: glpat-"
    + LETTERS[:20]
    + "' https://gitlab.com": "curl -H 'PRIVATE-TOKEN: ***' https://gitlab.com",
    "glab login glpat-" + LETTERS[:20]: "glab login ***",
    "slack xoxb-123456789012-123456789012-" + LETTERS[:24]: "slack ***",
    "curl https://hooks.slack.com/services/T0/B0/" + LETTERS[:24]: "curl https://hooks.slack.com/services/***",
    "stripe sk_" + "live_" + LETTERS[:24]: "stripe ***",
    "x sk-proj-" + LETTERS[:48]: "x ***",
    "x sk-ant-api03-" + LETTERS[:80]: "x ***",
    "x AIza" + LETTERS[:35]: "x ***",
    "npm config set x npm_" + LETTERS[:36]: "npm config set x ***",
    "twine upload -p pypi-AgEIcHlwaS5vcmc" + LETTERS: "twine upload -p ***",
    "x hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH": "x ***",
    "KEYHOLE=kh_" + LETTERS[:43]: "KEYHOLE=***",
    "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl": "x ***",
    "echo '-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----' | cat": "echo '***' | cat",
    "echo '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz": "echo '***",
    'curl -H "Authorization: Bearer abcdefgh12345678" x': 'curl -H "Authorization: Bearer ***" x',
    "curl -H 'authorization: Basic dXNlcjpwYXNz' x": "curl -H 'authorization: Basic ***' x",
    "http x 'Authorization:secret'": "http x 'Authorization:***'",
    "curl -H 'X-Api-Key: abc123' x": "curl -H 'X-Api-Key: ***' x",
    "curl -H 'Cookie: session=abc; user=x' x": "curl -H 'Cookie: ***' x",
    "login --password hunter2 --verbose": "login --password *** --verbose",
    "login --password=hunter2": "login --password=***",
    "login --db-password 'two words' -v": "login --db-password '***' -v",
    "vault login -token=s.1234": "vault login -token=***",
    "GITHUB_TOKEN=abc npm publish": "GITHUB_TOKEN=*** npm publish",
    'export AWS_SECRET_ACCESS_KEY="wJalr/XU"': 'export AWS_SECRET_ACCESS_KEY="***"',
    "curl 'https://example.org/?api_key=abc&q=1'": "curl 'https://example.org/?api_key=***&q=1'",
    "curl 'https://x.blob.core.windows.net/a?se=1&sig=abc%3D'": "curl 'https://x.blob.core.windows.net/a?se=1&sig=***'",
    """curl -d '{"user": "me", "password": "hunter2"}' x""": """curl -d '{"user": "me", "password": "***"}' x""",
    "git clone https://me:hunter2@example.org/x.git": "git clone https://me:***@example.org/x.git",
    "git clone https://" + LETTERS[:40] + "@example.org/x.git": "git clone https://***@example.org/x.git",
    "psql postgresql://app:hunter2@db:5432/app": "psql postgresql://app:***@db:5432/app",
    "curl -s -u me:hunter2 https://example.org": "curl -s -u me:*** https://example.org",
    "mysql -u root -phunter2 app": "mysql -u root -p*** app",
    "sshpass -p hunter2 ssh host": "sshpass -p *** ssh host",
    "x sk-or-v1-" + "0123456789abcdef" * 4: "x ***",
    "x hf_" + "a1B2" * 8 + "c3": "x ***",
    "vault login hvs." + LETTERS[:24]: "vault login ***",
    "less log-sk-proj-" + LETTERS[:48] + ".txt": "less log-***.txt",
    "less of_dckr_pat_" + LETTERS[:27] + ".txt": "less of_***.txt",
    "x dop_v1_" + "0123456789abcdef" * 4: "x ***",
    "x SG." + LETTERS[:22] + "." + LETTERS[:43]: "x ***",
    "x key-" + "0123456789abcdef" * 2: "x ***",
    "curl https://api.telegram.org/bot123456789:AA"
    + LETTERS[:33]
    + "/getMe": "curl https://api.telegram.org/***/getMe",
    "curl https://discord.com/api/webhooks/1234567890/"
    + LETTERS[:60]: "curl https://discord.com/api/webhooks/1234567890/***",
    "curl https://hooks.slack.com/workflows/T0/A0/1/" + LETTERS[:24]: "curl https://hooks.slack.com/workflows/***",
    "az storage blob list --account-key " + LETTERS[:60] + "==": "az storage blob list --account-key ***",
    "x 'AccountName=a;AccountKey=ab+cd/12==;Suffix=x'": "x 'AccountName=a;AccountKey=***;Suffix=x'",
    "LICENSE_KEY=" + LETTERS[:32] + " make": "LICENSE_KEY=*** make",
    "docker run -e DB_PASS=hunter2 img": "docker run -e DB_PASS=*** img",
    "MYSQL_PWD=hunter2 mysql": "MYSQL_PWD=*** mysql",
    "APP_SECRET_V2=abc PASSWORD_HASH=abc x": "APP_SECRET_V2=*** PASSWORD_HASH=*** x",
    "prog --pass hunter2 --pwd=hunter3": "prog --pass *** --pwd=***",
    "keytool -list -storepass hunter2": "keytool -list -storepass ***",
    """prog "--password" "hunter2" '--token' 'abc'""": """prog "--password" "***" '--token' '***'""",
    r"""prog --password 'it'\''s' '--password=it'"'"'s'""": r"""prog --password '***' '--password=***'""",
    "cmdkey /add:h /user:u /pass:hunter2": "cmdkey /add:h /user:u /pass:***",
    "setx API_KEY hunter2": "setx API_KEY ***",
    "npm config set //registry.npmjs.org/:_authToken abc": "npm config set //registry.npmjs.org/:_authToken ***",
    "aws configure set aws_secret_access_key ab+cd/12": "aws configure set aws_secret_access_key ***",
    "cat > .env.yaml <<EOF\ndb_password: hunter2\nEOF": "cat > .env.yaml <<EOF\ndb_password: ***\nEOF",
    r'curl -d "{\"password\": \"hunter2\"}" x': r'curl -d "{\"password\": \"***\"}" x',
    "python -c \"os.environ['API_KEY'] = 'hunter2'\"": "python -c \"os.environ['API_KEY'] = '***'\"",
    "php -r \"$c = ['api_key' => 'hunter2'];\"": "php -r \"$c = ['api_key' => '***'];\"",
    "python -c \"get(u, auth=('me', 'hunter2'))\"": "python -c \"get(u, auth=('me', '***'))\"",
    "ConvertTo-SecureString 'hunter2' -AsPlainText": "ConvertTo-SecureString '***' -AsPlainText",
    r"curl -H Authorization:\ Bearer\ abcdefgh x": r"curl -H Authorization:\ Bearer\ *** x",
    "curl -H 'Ocp-Apim-Subscription-Key: abc' x": "curl -H 'Ocp-Apim-Subscription-Key: ***' x",
    "curl -H 'apikey: abc' x": "curl -H 'apikey: ***' x",
    "curl -fsSLu me:hunter2 x": "curl -fsSLu me:*** x",
    "curl -u :hunter2 x": "curl -u :*** x",
    'curl -u "$USER:hunter2" x': 'curl -u "$USER:***" x',
    "curl --user 'me:two words' x": "curl --user 'me:***' x",
    "curl -b 'session=abc; user=x' x": "curl -b 'session=***' x",
    "http -a me:hunter2 example.org": "http -a me:*** example.org",
    "docker login -u me -p hunter2 ghcr.io": "docker login -u me -p *** ghcr.io",
    "redis-cli -h h -a hunter2 ping": "redis-cli -h h -a *** ping",
    "mongosh -u me -p 'hunter 2' db": "mongosh -u me -p '***' db",
    "sqlcmd -U sa -P hunter2 -Q x": "sqlcmd -U sa -P *** -Q x",
    "7z x -phunter2 a.7z": "7z x -p*** a.7z",
    "openssl enc -aes256 -pass pass:hunter2 -in x": "openssl enc -aes256 -pass *** -in x",
    "echo 'hunter2' | sudo -S ls": "echo '***' | sudo -S ls",
    r"printf '%s\n' hunter2 | docker login --password-stdin": r"printf '%s\n' *** | docker login --password-stdin",
    "gh secret set NAME --body hunter2": "gh secret set NAME --body ***",
    "kubectl create secret generic x --from-literal=user=me --from-literal=a=b": (
        "kubectl create secret generic x --from-literal=user=*** --from-literal=a=***"
    ),
}

UNCHANGED = (
    "git show 1b4f0e9851971998e732078544c96b36c3d01ced",
    "git diff 208652bf0a61c3a1d2e96a92d59a7a7e0f1c2a9b..HEAD -- src/token.py",
    "pytest tests/test_tokens.py -k 'token and not password'",
    "grep -rn 'password' src --include=*.py",
    "python train.py --max-tokens 4096 --tokenizer=bpe --token-file ~/.token",
    "curl -H \"Authorization: Bearer $TOKEN\" https://example.org",
    "curl -u \"$USER:$PASSWORD\" https://example.org",
    "docker login --password-stdin -u me",
    "docker build --secret id=npmrc,src=.npmrc .",
    "docker run -u 1000:1000 -e TOKEN=$TOKEN image",
    "git clone ssh://git@github.com/x/y.git",
    "git clone https://github.com/x/y.git@v1",
    "kubectl get secret app-secret -o yaml",
    "cat /etc/passwd && ls ~/.ssh/id_rsa.pub",
    "python -c 'token = load(path); token=os.environ[name]; print(token == other)'",
    "ls disk-usage-2024-REPORT-final-version",
    "make KEY=value MONKEY=1",
    "sha256sum keyhole-1.0-py3-none-any.whl",
    "mysql -u root -p app",
    "keyhole bound --of 'pytest -x' build.log",
    "PWD=/home/me OLDPWD=/tmp make PASS=2 KEY=value CACHE_KEY=v1 bypass=1",
    "ffmpeg -i a.mp4 -pass 1 -f null /dev/null",
    "grep -rn 'password=' src --include='*.py'",
    "git commit -m 'fix token: handle an empty password'",
    "kubectl config set-context --current --namespace=foo",
    "git config --global credential.helper store",
    "curl -su https://example.org -o out.json -c cookies.txt -b cookies.txt 'https://example.org?a=b'",
    "aws s3api get-object --bucket b --key path/to/object-2024-01-01/file123 out",
    "docker run -p 8080:80 -e NODE_ENV=production app && docker login ghcr.io",
    "mongosh --port 27017 --eval 'db.stats()' && redis-cli -p 6379 info && gzip -9 file",
    "echo 'deb https://example.org' | sudo tee /etc/apt/sources.list.d/x && echo hello | grep -S hell",
    "echo $TOKEN | docker login --password-stdin -u me",
    "export TOKEN=$(cat token.txt) && TOKEN=$GITHUB_TOKEN npm publish",
    "pip install jina_embeddings hf_transfer xai-sdk tvly-python pul-client",
    "bazel test //pass:all && cat /api/token file",
    "docker pull image@sha256:" + "0123456789abcdef" * 4,
    "cat cache-key-" + "0123456789abcdef" * 2,
)  # fmt: skip


@pytest.mark.parametrize("command", MASKED)
def test_a_secret_is_masked_and_the_rest_of_the_command_stays(command: str) -> None:
    assert mask_secrets(command) == MASKED[command]


@pytest.mark.parametrize("command", UNCHANGED)
def test_names_of_secrets_variables_and_hashes_are_not_masked(command: str) -> None:
    assert mask_secrets(command) == command


def test_no_part_of_a_secret_is_left_in_a_line_of_any_program() -> None:
    assert [line.text for line in load_lines("with_secret.txt") if not is_masked(line)] == []


def test_lines_without_secrets_are_unchanged() -> None:
    assert [line.text for line in load_lines("without_secret.txt") if not is_unchanged(line)] == []


def test_hashes_of_a_lock_file_are_unchanged() -> None:
    lines = Path("requirements.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if mask_secrets(line) != line] == []


def test_no_command_of_the_benchmark_is_changed() -> None:
    commands = [output.command for output in load_outputs().values()]
    assert [command for command in commands if mask_secrets(command) != command] == []


def test_every_shape_states_its_source() -> None:
    assert all(shape.source and shape.signs for shape in SHAPES)


@given(st.lists(st.sampled_from([*MASKED, *UNCHANGED, "=", " ", '"', "token", "://", "@", "-u", "***"]), max_size=6))
def test_a_masked_text_is_not_changed_again(parts: list[str]) -> None:
    masked = mask_secrets("".join(parts))
    assert mask_secrets(masked) == masked


@pytest.mark.parametrize(
    "part",
    [
        "token=",
        "--",
        "-a",
        "curl -u ",
        "://a:",
        "sk-",
        "eyJa.",
        "PRIVATE KEY",
        "mysql ",
        'key": "',
        "echo a|",
        "set a ",
        "docker login ",
        "--token 'a'\\''",
        "key=a1-",
        "curl -b a",
        "a-a-token",
        "token=%",
        "echo a | sudo -S ",
        "sudo -S ",
        "$(",
        "`",
        "foo -u a -p b ",
        "bash -c 'vault kv put a=b' ",
        "<password>",
        "a:1:b:c:",
    ],
)
def test_a_long_command_is_masked_in_linear_time(part: str) -> None:
    start = time.process_time()
    mask_secrets(part * (100_000 // len(part)))
    assert time.process_time() - start < allowed(2)


def test_no_pattern_is_compiled_before_it_is_needed() -> None:
    code = (
        "import re; from keyhole.text.secrets.mask import mask_secrets; compiled, real = [], re._compiler.compile\n"
        "re._compiler.compile = lambda *given: compiled.append(given) or real(*given)\n"
        "mask_secrets('make -j4'); print(compiled)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
