"""A page that tries to connect in every way that a browser offers, each to a host of its own.

A way is HTML, or JavaScript in a `try` block. `URL` stands for an origin such as `https://fetch.trap.example:8443`, and
`HOST` for its host and port. What a page tries and what it gets does not matter: the tests look at the sockets.
"""

from __future__ import annotations

import re
from typing import Final

TRAP: Final = "trap.example"
"""The domain of the hosts that the page tries to reach."""

ELEMENTS: Final[dict[str, str]] = {
    "img": "<img src=URL/a.png>",
    "srcset": "<img srcset='URL/a.png 1x, URL/b.png 2x'>",
    "picture": "<picture><source srcset=URL/a.webp><img></picture>",
    "background": "<div style='background-image:url(URL/a.png)'>x</div>",
    "css-import": "<style>@import url(URL/a.css);</style>",
    "font-face": "<style>@font-face{font-family:NAME;src:url(URL/a.woff2)}</style><p style='font-family:NAME'>x</p>",
    "cursor": "<div style='cursor:url(URL/a.cur),auto'>x</div>",
    "list-image": "<ul><li style='list-style-image:url(URL/a.png)'>x</ul>",
    "mask": "<div style='mask-image:url(URL/a.svg#m)'>x</div>",
    "stylesheet": "<link rel=stylesheet href=URL/a.css>",
    "icon": "<link rel=icon href=URL/a.ico>",
    "preload": "<link rel=preload as=script href=URL/a.js>",
    "modulepreload": "<link rel=modulepreload href=URL/a.js>",
    "prefetch": "<link rel=prefetch href=URL/a.html>",
    "prerender": "<link rel=prerender href=URL/a.html>",
    "preconnect": "<link rel=preconnect href=URL>",
    "dns-prefetch": "<link rel=dns-prefetch href=URL>",
    "manifest": "<link rel=manifest href=URL/a.json>",
    "script": "<script async src=URL/a.js></script>",
    "module": "<script type=module src=URL/a.mjs></script>",
    "speculation": '<script type=speculationrules>{"prefetch":[{"source":"list","urls":["URL/p"],'
    '"eagerness":"immediate"}],"prerender":[{"source":"list","urls":["URL/q"],"eagerness":"immediate"}]}</script>',
    "iframe": "<iframe src=URL/a.html></iframe>",
    "srcdoc": "<iframe srcdoc='<script src=URL/a.js></script><iframe src=URL/b.html></iframe>'></iframe>",
    "data-frame": "<iframe src=\"data:text/html,<script src='URL/a.js'></script>"
    "<script>fetch('URL/b',{mode:'no-cors'})</script>\"></iframe>",
    "sandboxed": "<iframe sandbox='allow-scripts' "
    "srcdoc=\"<script>fetch('URL/a',{mode:'no-cors'})</script>\"></iframe>",
    "refresh": "<iframe srcdoc='<meta http-equiv=refresh content=\"0;url=URL/a.html\">'></iframe>",
    "fenced": "<fencedframe></fencedframe><script>try{document.querySelector('fencedframe').config="
    "new FencedFrameConfig('URL/a.html')}catch(e){}</script>",
    "object": "<object data=URL/a.html></object>",
    "embed": "<embed src=URL/a.html>",
    "video": "<video preload=auto autoplay muted src=URL/a.mp4 poster=URL/a.jpg></video>",
    "audio": "<audio preload=auto src=URL/a.mp3></audio>",
    "track": "<video src=data:, preload=auto><track default src=URL/a.vtt></video>",
    "image-input": "<input type=image src=URL/a.png>",
    "svg-image": "<svg><image href=URL/a.png /></svg>",
    "svg-use": "<svg><use href=URL/a.svg#x /></svg>",
    "svg-filter": "<svg><filter id=f><feImage href=URL/a.png /></filter>"
    "<rect filter='url(#f)' width=9 height=9 /></svg>",
    "file-frame": "<iframe src=file:///etc/hostname></iframe><iframe src=file://HOST/share/a.html></iframe>",
    "external": "<iframe src='mailto:a@HOST'></iframe><iframe src='tel:1'></iframe>"
    "<iframe src='x-way-out://HOST/'></iframe>",
    "old-scheme": "<iframe src=ftp://HOST/a></iframe><iframe src=gopher://HOST/></iframe>",
    "inner-pages": "<iframe src=chrome://net-internals></iframe><iframe src=view-source:URL/></iframe>",
}  # fmt: skip
"""Ways that are written in HTML."""

SCRIPTS: Final[dict[str, str]] = {
    "fetch": "fetch('URL/a', {mode: 'no-cors'}).catch(() => 0)",
    "post": "fetch('URL/a', {mode: 'no-cors', method: 'POST', body: 'x'}).catch(() => 0)",
    "keepalive": "fetch('URL/a', {mode: 'no-cors', method: 'POST', body: 'x', keepalive: true}).catch(() => 0)",
    "fetch-later": "fetchLater('URL/a', {activateAfter: 0})",
    "local-fetch": "fetch('URL/a', {mode: 'no-cors', targetAddressSpace: 'loopback'}).catch(() => 0)",
    "xhr": "const x = new XMLHttpRequest; x.open('GET', 'URL/a'); x.send()",
    "sync-xhr": "const x = new XMLHttpRequest; x.open('GET', 'URL/a', false); x.send()",
    "beacon": "navigator.sendBeacon('URL/a', 'x')",
    "event-source": "new EventSource('URL/a')",
    "websocket": "new WebSocket('wss://HOST/a')",
    "plain-websocket": "new WebSocket('ws://HOST/a')",
    "websocket-stream": "new WebSocketStream('wss://HOST/a').opened.catch(() => 0)",
    "webtransport": "new WebTransport('https://HOST/a').ready.catch(() => 0)",
    "import": "import('URL/a.mjs').catch(() => 0)",
    "worker": "new Worker(blob(\"fetch('URL/a', {mode: 'no-cors'}); importScripts('URL/b.js')\"))",
    "worker-websocket": "new Worker(blob(\"new WebSocket('wss://HOST/a')\"))",
    "shared-worker": "new SharedWorker(blob(\"fetch('URL/a', {mode: 'no-cors'})\"))",
    "audio-worklet": "new AudioContext().audioWorklet.addModule('URL/a.js').catch(() => 0)",
    "paint-worklet": "CSS.paintWorklet.addModule('URL/a.js').catch(() => 0)",
    "blob-frame": "const f = document.createElement('iframe'); document.body.append(f);"
    "f.src = blob(\"<script src='URL/a.js'></script>\", 'text/html')",
    "stun": "rtc({urls: 'stun:HOST'})",
    "turn-udp": "rtc({urls: 'turn:HOST?transport=udp', username: 'u', credential: 'p'})",
    "turn-tcp": "rtc({urls: 'turn:HOST?transport=tcp', username: 'u', credential: 'p'})",
    "turns": "rtc({urls: 'turns:HOST?transport=tcp', username: 'u', credential: 'p'})",
    "ice-candidate": "candidate('HOST')",
    "ping": "const a = document.createElement('a'); a.href = '#x'; a.ping = 'URL/a'; "
    "document.body.append(a); a.click()",
    "download": "const a = document.createElement('a'); a.href = 'URL/a.zip'; a.download = ''; "
    "a.target = frame(); document.body.append(a); a.click()",
    "form": "const f = document.createElement('form'); f.action = 'URL/a'; f.method = 'post'; f.target = frame(); "
    "document.body.append(f); f.submit()",
    "window-open": "window.open('URL/a')",
    "popup-noopener": "window.open('URL/a', '_blank', 'noopener,popup')",
    "file-fetch": "fetch('file:///etc/hostname').catch(() => 0); window.open('file:///etc/hostname')",
    "print": "frames[frame()].document.write(\"<img src='URL/a.png'><script>print()<\\/script>\")",
    "payment": "new PaymentRequest([{supportedMethods: 'URL/pay'}], "
    "{total: {label: 'x', amount: {currency: 'EUR', value: '1'}}}).canMakePayment().catch(() => 0)",
    "fedcm": "navigator.credentials.get({identity: {providers: [{configURL: 'URL/a.json', clientId: 'x'}]}})"
    ".catch(() => 0)",
    "notification": "new Notification('x', {icon: 'URL/a.png'})",
    "push": "worker.then(r => r.pushManager.subscribe({userVisibleOnly: true, "
    "applicationServerKey: new Uint8Array(65)})).catch(() => 0)",
    "background-fetch": "worker.then(r => r.backgroundFetch.fetch('x', ['URL/a'])).catch(() => 0)",
    "service-worker": "worker.then(r => navigator.serviceWorker.ready)"
    ".then(r => r.active.postMessage('URL/a')).catch(() => 0)",
    "cache": "caches.open('x').then(c => c.add(new Request('URL/a', {mode: 'no-cors'}))).catch(() => 0)",
    "presentation": "new PresentationRequest(['URL/a']).getAvailability().catch(() => 0)",
    "remote-playback": "document.createElement('video').remote.watchAvailability(() => 0).catch(() => 0)",
    "cast": "new PresentationRequest(['cast:0F5096E8']).start().catch(() => 0)",
    "attribution": "const i = document.createElement('img'); i.attributionSrc = 'URL/a'; document.body.append(i)",
    "shared-storage": "sharedStorage.worklet.addModule('URL/a.js').catch(() => 0)",
    "interest-group": "navigator.joinAdInterestGroup({owner: 'URL', name: 'x', "
    "updateURL: 'URL/a', lifetimeMs: 1e6}, 9).catch(() => 0)",
    "direct-sockets": "new TCPSocket('HOST'.split(':')[0], 8443); "
    "new UDPSocket({remoteAddress: '127.0.0.1', remotePort: 8443})",
    "protocol-handler": "navigator.registerProtocolHandler('web+out', 'URL/?%s')",
    "script-navigation": "frames[frame()].location = 'URL/a'",
    "portal": "const p = document.createElement('portal'); p.src = 'URL/a'; document.body.append(p)",
    "media-source": "new Audio('URL/a.ogg').play().catch(() => 0)",
    "install-app": "navigator.getInstalledRelatedApps?.().catch(() => 0); "
    "navigator.install?.('URL/a').catch(() => 0)",
    "language-model": "window.LanguageModel?.create?.().catch(() => 0); "
    "window.Translator?.create?.({sourceLanguage: 'en', targetLanguage: 'fr'}).catch(() => 0)",
    "private-token": "fetch('URL/a', {mode: 'no-cors', "
    "privateToken: {version: 1, operation: 'token-request'}}).catch(() => 0)",
}  # fmt: skip
"""Ways that are written in JavaScript."""

WAYS: Final = (*ELEMENTS, *SCRIPTS)

WORKER: Final = """
self.oninstall = () => skipWaiting();
self.onactivate = event => event.waitUntil(clients.claim());
self.onmessage = event => event.waitUntil(fetch(event.data, {mode: 'no-cors'}).catch(() => 0));
"""
"""The service worker of the page, which fetches what it is told to."""

HEADERS: Final = {
    "Link": "<https://link-header.trap.example:8443/a.js>; rel=preload; as=script, "
    "<https://link-connect.trap.example:8443>; rel=preconnect",
    "Alt-Svc": 'h3=":8443"; ma=3600, h3="alt-svc.trap.example:8443"; ma=3600',
    "Reporting-Endpoints": 'default="https://reporting.trap.example:8443/r"',
    "NEL": '{"report_to":"default","max_age":99,"success_fraction":1.0,"failure_fraction":1.0}',
    "Report-To": '{"group":"default","max_age":99,"endpoints":[{"url":"https://report-to.trap.example:8443/r"}]}',
    "Content-Security-Policy-Report-Only": "default-src 'self'; "
    "report-uri https://csp-uri.trap.example:8443/r; report-to default",
}
"""Fields of the page's response, which make a browser connect too."""

_PRELUDE: Final = """
let frameNumber = 0;
const peers = [];
const sleep = seconds => new Promise(resolve => setTimeout(resolve, 1000 * seconds));
const gathered = peer => new Promise(resolve => {
  const look = () => peer.iceGatheringState === 'complete' && resolve();
  peer.addEventListener('icegatheringstatechange', look); look();
});
const blob = (text, type = 'text/javascript') => URL.createObjectURL(new Blob([text], {type}));
const frame = () => {
  const f = document.createElement('iframe'); f.name = 'f' + frameNumber++; document.body.append(f); return f.name;
};
const rtc = server => {
  const peer = new RTCPeerConnection({iceServers: [server]});
  peers.push(peer);
  peer.createDataChannel('x');
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
  return peer;
};
const candidate = async host => {  // a peer at a given address, to which the browser sends checks
  const [address, port] = host.split(':'), near = rtc({urls: 'stun:' + host}), far = new RTCPeerConnection();
  near.onicecandidate = event => event.candidate && far.addIceCandidate(event.candidate).catch(() => 0);
  await sleep(0.3);
  await far.setRemoteDescription(near.localDescription);
  await far.setLocalDescription(await far.createAnswer());
  await near.setRemoteDescription(far.localDescription);
  await near.addIceCandidate({candidate: `candidate:1 1 udp 2113937151 ${address} ${port} typ host`, sdpMid: '0'});
};
const worker = navigator.serviceWorker ? navigator.serviceWorker.register('/worker.js') : Promise.reject();
worker.catch(() => 0);
"""
_END: Final = """
Promise.race([Promise.all(peers.map(gathered)), sleep(3)]).then(() => sleep(0.5)).then(() => window.finished?.(''));
"""


def trap_host(way: str) -> str:
    """Return the host that a way tries to reach by name."""
    return f"{way}.{TRAP}"


def page_with_ways(ways: tuple[str, ...], literals: tuple[str, ...], port: int = 8443) -> str:
    """Return HTML that tries each way with the way's own name, and with each `host:port` of `literals`."""
    elements, scripts = [], []
    for way in ways:
        for url, host in [
            (f"https://{trap_host(way)}:{port}", f"{trap_host(way)}:{port}"),
            *((f"http://{literal}", literal) for literal in literals),
        ]:
            text = re.sub(r"\bURL\b", url, ELEMENTS.get(way) or SCRIPTS[way])
            text = re.sub(r"\bHOST\b", host, text).replace("NAME", way)
            if way in ELEMENTS:
                elements.append(text)
            else:
                scripts.append(f"try {{ (() => {{ {text} }})() }} catch (error) {{}}")
    script = "\n".join([_PRELUDE, *scripts, _END]).replace("</script", "<\\/script")
    head = "<!doctype html><meta charset=utf-8><title>ways</title><p>text</p>"
    return "\n".join([head, *elements, f"<script>{script}</script>"])
