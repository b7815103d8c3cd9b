// The token of a link: kept for this tab alone, and taken out of the address, where others would read and copy it.

const KEPT = 'cobalt.token';

export function token() {
  return sessionStorage.getItem(KEPT) ?? '';
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
