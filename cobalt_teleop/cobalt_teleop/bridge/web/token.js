// What lets this tab in: the token of its link, which is taken out of the address, where others would read and copy it;
// and the key of its session.

const KEPT = 'cobalt.token';
const KEPT_KEY = 'cobalt.session';

export function token() {
  return sessionStorage.getItem(KEPT) ?? '';
}

// This page is one more of a session: a phone that was paired with a laptop.
export function isCompanion() {
  return token().startsWith('pair.');
}

export function takeTokenFromAddress() {
  const url = new URL(location.href);
  const found = url.searchParams.get('invite') ?? url.searchParams.get('token');
  if (found === null) return;
  sessionStorage.setItem(KEPT, found);
  url.searchParams.delete('invite');
  url.searchParams.delete('token');
  history.replaceState(history.state, '', url);
}

export function forgetToken() {
  sessionStorage.removeItem(KEPT);
  sessionStorage.removeItem(KEPT_KEY);
}

// Brings the session back after a reload. The page makes it, so that a first connection that breaks off costs no
// single-use link.
export function sessionKey() {
  const kept = sessionStorage.getItem(KEPT_KEY);
  if (kept) return kept;
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  sessionStorage.setItem(KEPT_KEY, key);
  return key;
}
