// What the findings of a connection test mean, in words, and who can do what about it. Nothing here touches the page.

export const KIND_WORDS = {
  host: 'direct',
  prflx: 'direct',
  srflx: 'direct, through a router',
  relay: 'through the relay (TURN)',
};

const DOCS = 'docs/network.md';
const OWN_HOST = /^(localhost|127\..*|\[::1\])$/;

export function isPrivate(address) {
  return /^(10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd]|fe80|::1)/i.test(address);
}

export function addressesOf(sdp) {
  return [...sdp.matchAll(/^a=candidate:\S+ \d+ udp \d+ (\S+) (\d+) typ (\S+)/gim)]
    .map(([, address, port, kind]) => ({ address, port: Number(port), kind }));
}

function sorted(kinds) {
  return ['host', 'srflx', 'relay'].filter((kind) => kinds.has(kind));
}

// What this browser gathered. `kinds`: a set; `errors`: of STUN and TURN servers, as { url, code }.
export function gathered({ kinds, stun, turn, errors }) {
  if (kinds.size === 0) {
    return {
      state: 'failed',
      text: 'This browser offers no network address for live media.',
      advice: 'An extension, a privacy setting or a rule of your organisation blocks WebRTC. Switch such extensions off, or use another browser.',
    };
  }
  const names = { host: 'this device', srflx: 'its router (STUN)', relay: 'the relay (TURN)' };
  const text = `Addresses: ${sorted(kinds).map((kind) => names[kind]).join(', ')}.`;
  if (turn && !kinds.has('relay')) {
    const refused = errors.some(({ code }) => code === 401 || code === 403);
    return {
      state: 'warning',
      text: `${text} The relay did not ${refused ? 'let this page in' : 'answer'}.`,
      advice: refused
        ? `Whoever runs the server: COBALT_TURN_SECRET must be the relay's own secret, and both clocks must be right (${DOCS}).`
        : 'The relay is needed only if the next step fails. If it does: have your network let this device reach the relay, UDP and TCP port 3478.',
    };
  }
  if (stun && !kinds.has('srflx') && !kinds.has('relay')) {
    return { state: 'passed', text: `${text} The STUN server told no other; on one network none is needed.` };
  }
  return { state: 'passed', text };
}

// Why no connection came about. `server`: its addresses by its offer; `problems`: what it found at STUN and TURN servers.
export function notConnected({ kinds, turn, errors, server, problems, udpPorts, host }) {
  const ports = udpPorts ? `the UDP ports ${udpPorts} of ${host}` : `UDP to ${host}`;
  const said = problems.map(({ url, problem }) => `${url}: ${problem}`).join('; ');
  const relayed = server.some(({ kind }) => kind === 'relay');
  if (turn && kinds.has('relay') && relayed) {
    return {
      text: 'Both you and the server reach the relay, but nothing comes through it.',
      advice: `Whoever runs the relay: it must allow itself and the server as peers (allowed-peer-ip), and its own ports be open (${DOCS}).`,
    };
  }
  if (turn && kinds.has('relay')) {
    return {
      text: 'You reach the relay, but the server cannot be reached through it.',
      advice: said ? `Whoever runs the server: ${said}.` : `Whoever runs the relay: allow the server's address as a peer (allowed-peer-ip, ${DOCS}).`,
    };
  }
  if (turn) {
    const refused = errors.some(({ code }) => code === 401 || code === 403);
    return {
      text: refused ? 'UDP is blocked between you and the server, and the relay refused the login.' : 'UDP is blocked between you and the server, and the relay does not answer either.',
      advice: refused
        ? `Whoever runs the server: ${said || 'COBALT_TURN_SECRET must be the relay\'s own secret, and both clocks must be right'}.`
        : `Have your network let this device reach the relay (UDP and TCP port 3478), or ${ports}; or try another network, such as a phone's.`,
    };
  }
  if (server.length === 0) {
    return {
      text: 'The server offers no address for live media.',
      advice: `Whoever runs the server: it has no network interface but loopback, or its UDP ports are all taken (${DOCS}).`,
    };
  }
  if (!isPrivate(host) && /^[\d.]+$|:/.test(host) && server.every(({ address }) => isPrivate(address))) {
    return {
      text: `The server is behind a router and told only addresses of its own network (${server.map(({ address }) => address).join(', ')}).`,
      advice: `Whoever runs the server: forward its UDP ports and set announced_addresses, or set stun_urls or turn_urls (${DOCS}).`,
    };
  }
  return {
    text: 'UDP is blocked between you and the server.',
    advice: `Ask whoever runs your network, or the server's, to open ${ports}; or ask whoever runs the server to set up a relay (TURN, ${DOCS}). Another network, such as a phone's, may work at once.`,
  };
}

// Round trips [ms] of the messages that came back, of `sent`. host: of the page's address.
export function trips(round_trips_ms, sent, host) {
  if (round_trips_ms.length === 0) {
    return {
      state: 'failed',
      text: 'The connection stands, but no message came back on it.',
      advice: 'Run the test again. If it stays so, something on the way drops data but not its greeting: try another network, or a VPN off.',
    };
  }
  const ordered = [...round_trips_ms].sort((a, b) => a - b);
  const median_ms = ordered[ordered.length >> 1];
  const lost = sent - ordered.length;
  const text = `Round trip ${median_ms < 10 ? median_ms.toFixed(1) : Math.round(median_ms)} ms${lost ? `; ${lost} of ${sent} messages lost` : ''}.`;
  if (lost > 0.1 * sent) {
    if (OWN_HOST.test(host)) return { state: 'warning', text, advice: 'Many messages come too late: this computer is too busy. Close other programs on it, or run fewer workcells or smaller pictures.' };
    return { state: 'warning', text, advice: 'Many messages are lost. Use a cable instead of Wi-Fi, or come closer to the access point.' };
  }
  if (median_ms > 250) {
    return { state: 'warning', text, advice: 'The way is long: the arm will follow late. Drive slowly, or use a network nearer to the robot.' };
  }
  return { state: 'passed', text };
}
