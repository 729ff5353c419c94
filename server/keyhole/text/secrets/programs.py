"""List the programs that take secrets as arguments, and which of their arguments these are."""

from __future__ import annotations

from functools import cache
from typing import Final

WRAPPERS: Final = frozenset({
    "sudo", "doas", "env", "nohup", "time", "timeout", "nice", "ionice", "xargs", "watch", "strace", "ssh", "su",
    "runuser", "chroot", "setsid", "exec", "eval", "command", "builtin", "sh", "bash", "dash", "zsh", "ksh", "fish",
    "ash", "docker", "podman", "nerdctl", "kubectl", "oc", "nsenter", "systemd-run", "flatpak-spawn", "wsl", "if",
    "then", "else", "elif", "while", "until", "do", "{", "!", "+", "#", "%", "parallel", "find", "tmux", "screen",
    "script", "expect", "stdbuf", "unbuffer", "trap", "cmd",
})  # fmt: skip
"""Programs and words before a command that runs."""

_SEPARATORS: Final = {ord(char): " " for char in "\"'`;|&()<>/\\$"}
TABLE: Final = """
7z 7za 7zr 7zz: -p~
ab: -A[:] -P[:]
aescrypt: -p
ansible-vault | encrypt_string: #1 -n_ --name_ --vault-id_
apksigner: --ks-pass --key-pass
argon2: <
asciinema | auth: #1
aws | configure set: *
aws | ssm put-parameter: --value
az: --account-key --admin-password
az | login: -p
az | keyvault secret set: --value
bcp osql sqlcmd isql: -P
beeline: -p
bw | unlock: #1
bw | login: #2
buildah podman skopeo: --creds[:] --src-creds[:] --dest-creds[:]
bundle | config: *
cargo | login: #1
ccrypt ccdecrypt ccencrypt: -K
cf cf7 cf8 oc | login: -p
chpasswd: <[:]
choco nuget | apikey/setapikey: -k #1
cloudflared | service install: #1
codecov codecovcli: -t
composer | config http-basic: #2
composer | config github-oauth/gitlab-token/bearer: #1
composer | config: *
conda anaconda: -t
cryptcat: -k
crackmapexec cme nxc netexec evil-winrm: -p
cqlsh cypher-shell: -p
create_ap: #4
croc: --code
cryptsetup: <
curl curlie: -u[:] --user[:] -U[:] --proxy-user[:] -b[=] --cookie[=]
default machine: @password
docker podman nerdctl crane helm | login: -p
docker podman nerdctl crane helm skopeo buildah | login --password-stdin: <
doctl: -t
dotnet nuget | push: -k -sk
dotnet | user-secrets set: *
drone: -t
dscl | -passwd: #last
expdp impdp exp imp sqlplus sqlldr rman: #*[/]
etcdctl: --user[:]
fish | set: *
fly flyctl | secrets set: =
fly flyctl wrangler | secrets/secret import/bulk: <
gh glab | secret set: -b --body -v --value
gh glab | auth login: -t
gh glab | auth login --with-token/--stdin: <
glab | variable set: #2 -v --value
gpg gpg2: --passphrase
gpg gpg2 | --passphrase-fd: <
grafana-cli | reset-admin-password: #1
hey siege: -a[:]
hsw-cli | unlock: #1
htpasswd mosquitto_passwd | -b: #last -C_
http https xh xhs httpie: -a[:] --auth[:]
impacket-psexec impacket-secretsdump psexec.py secretsdump.py wmiexec.py smbclient.py smbexec.py: #*[:]
getTGT.py getST.py GetUserSPNs.py GetNPUsers.py mssqlclient.py lookupsid.py atexec.py dcomexec.py: #*[:]
influx: -password
ipmitool: -P
iscsiadm | node.session.auth.password/discovery.sendtargets.auth.password: -v
iwconfig: @key
jarsigner keytool: -storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass
java jenkins-cli: -auth[:]
journalctl: --verify-key
kinit smbpasswd passwd: <
kubectl oc | create secret: --from-literal[=] <
kubectl oc: --token
ldapadd ldapdelete ldapmodify ldapmodrdn ldapsearch ldapcompare ldapwhoami: -w
ldappasswd: -w -s -a
lftp: -u[,] --user[,]
lynx: -auth[:] -pauth[:]
mail mailx s-nail: -S[=]
mc | alias set: #4
minio-client mcli | alias set: #4
mkpasswd: #1 -m_ --method_ -S_ --salt_ -R_ --rounds_
mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop mongofiles: -p
mosquitto_pub mosquitto_sub mosquitto_rr: -P
mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlbinlog mysqlsh mysqlpump: -p~
mariadb mariadb-dump mariadb-admin mariadb-import mariadb-show mariadb-check mariadb-backup mycli: -p~
mupdf zathura: -p
mysqladmin mariadb-admin | password: #1
neo4j-admin | set-initial-password: #1
net | rpc/ads: -U[%]
net | user: #2?
net | use: #2? #3?
netlify | env:set: *
networksetup | -setairportnetwork: #3
ngrok | add-authtoken/authtoken: #1
nmcli: @password @wifi-sec.psk @802-11-wireless-security.psk @vpn.secrets
npm pnpm yarn bun | config set: *
npm pnpm yarn | set: *
openssl: -passin -passout -pass -password
openssl | enc: -k -K
openssl | passwd: #1 -salt_
openssl | dgst: -hmac
openvpn: --pass
pdftk: @input_pw @owner_pw @user_pw
pdftotext pdfinfo pdftoppm pdfimages pdftocairo pdftohtml pdfseparate: -upw -opw
plink pscp psftp kitty winscp: -pw
poetry | config http-basic: #2
poetry | config pypi-token: #last
poetry twine flit | publish/upload: -p
psexec psexec64 paexec wmic: -p
pulumi | config set --secret: #2
pulumi | config set: *
qpdf | --encrypt: #1 #2
rabbitmqadmin: -p
rabbitmqctl | add_user/change_password/authenticate_user: #2
radtest: #2 #5
rar unrar: -p~ -hp~
rclone | obscure: #1
rclone | config: @pass @password @secret_access_key @token
rdesktop: -p
redis-cli valkey-cli keydb-cli: -a
requirepass masterauth: #1
restic rustic: --password-command
rpcclient smbclient smbget smbcacls smbtree: -U[%] --user[%]
samba-tool | user create/add: #2
samba-tool: --newpassword
schtasks: /rp
security: -w -p -P
sendemail: -xp
set setx setenv export: *
smbmap: -p
snmpget snmpgetnext snmpset snmpwalk snmpbulkget snmpbulkwalk snmptrap: -A -X
snyk | auth: #1
sonar-scanner mvn: -Dsonar.login -Dsonar.token
ssh-keygen: -N -P
sshpass: -p
steghide: -p
stripe | login: --api-key
sudo | -S: <
svn: --password
swaks: -ap
tailscale: --authkey --auth-key
travis | encrypt: #last
unzip zip zipcloak: -P
useradd usermod adduser: -p
uv | publish: -t
vault: -token
vault | login: #1?
vault | kv put/patch: =
vault | write: =
vercel | env add: <
vercel now: -t --token
veracrypt truecrypt: -p
virt-customize virt-builder virt-sysprep: --root-password[:] --password[:]
vncpasswd | -f: <
wandb | login: #1
wget2 wget aria2c: --password --http-passwd
wlst ibmcloud: --apikey -p
wpa_cli: @psk @password @wep_key0
wpa_passphrase: #2
wrangler | secret put: <
xcrun | altool: -p
xfreerdp xfreerdp3 wlfreerdp sdl-freerdp: /p
yarn npm: @npmAuthToken
youtube-dl yt-dlp: -p --video-password --ap-password
"""
"""A line: programs, `|` and words of a command of theirs (`a/b` is one of both), a colon, and the secrets:

`-p`: the value of an option. `-p~`: only a value without a space before it. `-u[:]`: what follows the first colon in
the value. `-C_`: an option whose value is no secret. `#2`: the second argument that is no option, after the words of
the command. `#last`: the last one. `#*[/]`: in each, what follows the slash, up to an `@`. `#1?`: unless it is a common
word. `@password`: the argument after this word. `*`: the argument after the name of a secret. `=`: what follows `=` in
each argument. `<`: what is read from standard input. `<[:]`: what follows the colon there.
"""


USER_OPTIONS: Final = frozenset({"-u", "-U", "-l", "--user", "--username", "--login"})
PASSWORD_OPTIONS: Final = frozenset({"-p", "-P", "-w", "-pw", "-pass"})
"""Options with the name and the password of a user. With both, a program that is not in the table takes a password."""


def mentions_program(text: str) -> bool:
    """Return False if a text certainly contains no command that takes a secret as an argument."""
    if any(f" {option} " in text for option in PASSWORD_OPTIONS):
        return True
    return not _programs().isdisjoint(text.translate(_SEPARATORS).split())


@cache
def _programs() -> frozenset[str]:
    heads = (line.partition(": ")[0].partition(" | ")[0] for line in TABLE.splitlines())
    return frozenset(name for head in heads for name in head.split())
