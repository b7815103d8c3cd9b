// Puts what is known into the page. Nothing here decides anything.

const $ = (id) => document.getElementById(id);

// What is as it was is not written again: that, too, would cost a layout.
export function set(node, property, value) {
  if (node[property] !== value) node[property] = value;
}

function text(id, value) {
  set($(id), 'textContent', value);
}

function level(id, value) {
  const node = $(id);
  if (node.dataset.level !== value) node.dataset.level = value;
}

function list(id, items) {
  const node = $(id);
  const key = items.join('\n');
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.replaceChildren(...items.map((item) => {
    const entry = document.createElement('li');
    entry.textContent = item;
    return entry;
  }));
}

export function clockText(seconds) {
  const tenths = Math.max(0, Math.floor(seconds * 10));
  const minutes = Math.floor(tenths / 600);
  return `${minutes}:${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`;
}

// Several names as one: "Ada and Bo".
export function inWords(names) {
  return names.join(' and ');
}

function capital(words) {
  return words ? words[0].toUpperCase() + words.slice(1) : '';
}

// The addresses of workcells, for a page whose own is not there.
function links(workcells) {
  const box = $('choices');
  const key = workcells.map((workcell) => workcell.id).join();
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...workcells.map(({ id }) => {
    const link = document.createElement('a');
    const url = new URL(location.href);
    url.searchParams.set('workcell', id);
    link.href = url;
    link.textContent = `Open ${id}`;
    return link;
  }));
}

export function showConnection({ level: state, text: words, title, detail, curtain, choices }) {
  level('connection', state);
  text('connection-text', words);
  set($('curtain'), 'hidden', !curtain);
  text('curtain-title', title ?? words);
  text('curtain-text', detail ?? '');
  links(choices ?? []);
}

// A page that is out shows why and what to do next, and none of the controls, which would do nothing. `closed` is null
// while it is in, or may come in by itself.
export function showClosed(closed) {
  const { classList } = document.body;
  if (classList.contains('out') !== Boolean(closed)) classList.toggle('out');
  set($('closed'), 'hidden', !closed);
  if (!closed) return;
  text('closed-title', closed.title);
  text('closed-text', closed.text);
  set($('closed-note'), 'hidden', !closed.needsLink);
  text('closed-again', closed.button);
}

export function showTitle(title) {
  set(document, 'title', title);
}

const GAUGES_MS = 400; // nobody reads numbers that change faster, and each change costs a layout
let gauged_ms = -Infinity;

export function showGauges({ age_ms, round_trip_ms, fps, viewers, road: [road, roadTitle], link }) {
  if (performance.now() - gauged_ms < GAUGES_MS) return;
  gauged_ms = performance.now();
  level('link', link.level);
  text('link-word', link.word);
  set($('link'), 'title', `${link.text} Click to test the connection, in a new tab.`);
  text('frame-age', age_ms === null ? '–' : age_ms > 9999 ? `${Math.round(age_ms / 1000)} s` : `${Math.round(age_ms)} ms`);
  $('frame-age').classList.toggle('bad', age_ms !== null && age_ms > 250);
  text('round-trip', round_trip_ms === null ? '–' : `${round_trip_ms < 10 ? round_trip_ms.toFixed(1) : Math.round(round_trip_ms)} ms`);
  text('frame-rate', fps ? `${Math.round(fps)} /s` : '–');
  text('viewers', viewers ? String(viewers) : '–');
  text('road', road);
  set($('road').parentElement, 'title', roadTitle);
}

export function showWorkcells(workcells, chosen) {
  const chooser = $('chooser');
  const choice = workcells.length >= (chosen ? 2 : 1);
  set(chooser, 'hidden', !choice);
  set($('workcell-name'), 'hidden', choice);
  text('workcell-name', chosen);
  const select = $('workcell');
  const key = workcells.map((workcell) => workcell.id).join();
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    const none = new Option('Choose', '');
    none.hidden = true;
    select.replaceChildren(none, ...workcells.map(({ id }) => new Option(id, id)));
  }
  if (document.activeElement !== select) select.value = chosen;
}

export function showMotion({ level: state, title, words, limits }) {
  level('motion', state);
  text('motion-title', title);
  text('motion-text', words);
  set($('motion'), 'title', words); // for a sentence that is too long for the strip
  list('limits', limits);
}

const OUTCOMES = {
  success: 'success', failure: 'failure', timeout: 'time was up', aborted: 'aborted', discarded: 'discarded', unknown: 'no outcome',
};

export function outcomeWords(outcome) {
  return OUTCOMES[outcome] ?? outcome;
}

// `undriven`: how the running episode ends while nobody drives, in words; empty otherwise. `quality` is the newest that came.
export function showEpisode({ episode, quality, elapsed_s, recordingWords, recordingLevel, silent, undriven }) {
  text('task', episode?.task ? `Task: ${episode.task}` : 'Task');
  text('instruction', episode?.instruction || '–');
  text('clock', clockText(elapsed_s));
  const limit_s = episode?.time_limit_s ?? 0;
  set($('progress').style, 'width', limit_s > 0 ? `${Math.min(100, (elapsed_s / limit_s) * 100)}%` : '0%');
  const phase = episode?.phase ?? 'idle';
  const verdict = phase === 'ended' && quality?.final && quality.episode === episode.id ? quality.verdict : '';
  const words = {
    idle: 'No episode yet',
    preparing: 'Getting ready',
    running: limit_s > 0 ? `Running, of ${clockText(limit_s).slice(0, -2)}` : 'Running',
    paused: 'Paused',
    ending: 'Saving',
    ended: verdict ? verdictWords(verdict, episode.outcome) : `Ended: ${outcomeWords(episode?.outcome)}`,
  };
  const going = silent ? 'Interrupted' : undriven ? `${undriven[0].toUpperCase()}${undriven.slice(1)}: nobody drives` : words.running;
  text('phase', phase === 'running' ? going : words[phase] ?? phase);
  level('phase', phase === 'running' && !silent && undriven ? 'warn' : '');
  set($('why'), 'hidden', !['reject', 'review'].includes(verdict));
  text('recording', recordingWords);
  level('recording', recordingLevel);
}

// Each of `buttons`: its label, whether it can be pressed, and a sentence: what it does, or why it cannot be pressed.
export function showButtons(buttons) {
  for (const [id, { label, enabled, title }] of Object.entries(buttons)) {
    const button = $(id);
    text(id, label);
    set(button, 'disabled', !enabled);
    set(button, 'title', title);
  }
}

export function showControl({ state, title, note, button, enabled, colour, home }) {
  level('holder-badge', state);
  const badge = colour === null ? 'badge' : `badge c${colour}`;
  if ($('holder-badge').className !== badge) $('holder-badge').className = badge;
  set($('home'), 'hidden', !home.shown);
  set($('home'), 'disabled', !home.enabled);
  set($('home'), 'title', home.title);
  text('holder', title);
  text('holder-note', note);
  text('take', button);
  set($('take'), 'disabled', !enabled);
}

export function showGripper(words) {
  const node = $('gripper-state');
  if (!node) return;
  text('gripper-state', words);
  if (node.dataset.level !== words) node.dataset.level = words;
}

// `objection`: why this page may not release the stop; empty if it may.
export function showStop({ stopped, by, objection }) {
  set($('stop'), 'hidden', stopped);
  set($('stopped'), 'hidden', !stopped);
  text('stopped-by', by ? `Stopped by ${by}` : 'Stopped');
  set($('stopped-by'), 'title', $('stopped-by').textContent);
  text('stopped-note', objection ? `${capital(objection)}.` : 'Look at the robot first.');
  set($('release-stop'), 'hidden', Boolean(objection));
  if (stopped) $('flash').hidden = true;
}

// Who runs the server is told the folder of a recording; all others hear its task and its episode's id.
export function whatIs(uri) {
  return uri.startsWith('/') ? 'name of the folder' : 'name of the episode';
}

const VERDICTS = {
  accept: 'accepted',
  review: 'to be reviewed',
  reject: 'rejected',
  unknown: 'no verdict',
};

// The outcome of an episode with the verdict on it, in words such as "Success, but rejected".
function verdictWords(verdict, outcome) {
  const words = VERDICTS[verdict] ?? verdict;
  if (!outcome) return capital(words);
  return `${capital(outcomeWords(outcome))}, ${outcome === 'success' && verdict === 'reject' ? 'but ' : ''}${words}`;
}

// `episode` is the last one that ended; `quality` and `recording` are the newest that came.
export function showLast({ episode, quality, recording }) {
  const ended = episode && (!quality?.final || quality.episode <= episode.id); // ids rise with time
  const judged = quality?.final && (!ended || quality.episode === episode.id) ? quality : null;
  const own = ended && recording?.episode === episode.id ? recording : null;
  set($('verdict').dataset, 'known', String(Boolean(judged || ended)));
  if (judged) {
    level('verdict', judged.verdict);
    text('verdict-title', verdictWords(judged.verdict, ended ? episode.outcome : ''));
    text('verdict-text', capital(judged.tip || (ended && episode.end_reason) || ''));
    list('reasons', judged.reasons.slice(0, 6));
  } else if (own?.state === 'failed') {
    level('verdict', 'reject');
    text('verdict-title', 'Not saved');
    text('verdict-text', capital(own.reason));
    list('reasons', []);
  } else if (ended) {
    const saving = episode.phase === 'ending' || own?.state === 'finalising';
    level('verdict', saving ? 'busy' : 'none');
    const outcome = capital(outcomeWords(episode.outcome));
    text('verdict-title', saving ? 'Saving' : episode.practice ? `Practice: ${outcome.toLowerCase()}` : outcome);
    text('verdict-text', episode.practice ? 'Nothing was recorded.' : capital(episode.end_reason) || 'No verdict has come.');
    list('reasons', []);
  }
  const uri = judged?.uri || (own?.state === 'saved' ? own.uri : '');
  set($('bag'), 'hidden', !uri);
  set($('bag'), 'title', `Copy the ${whatIs(uri)}`);
  text('bag-path', uri);
}

let flashTimer = null;

// Over the strip below the picture, for a moment. Kinds: proven, marked, failed.
export function flash(words, kind) {
  const node = $('flash');
  node.textContent = words;
  node.dataset.kind = kind;
  node.hidden = false;
  clearTimeout(flashTimer);
  flashTimer = setTimeout(() => { node.hidden = true; }, 2500);
}

// `link`: text and address of where more is to be found, if there is such. `about`: a newer notice about the same takes
// the place of this one.
export function notice(words, kind = 'error', { link = null, about = '' } = {}) {
  const node = document.createElement('p');
  node.className = `notice ${kind}`;
  node.dataset.about = about;
  node.textContent = words;
  if (link) {
    const more = document.createElement('a');
    Object.assign(more, { href: link.href, textContent: link.text, target: '_blank', rel: 'opener' });
    node.append(' ', more);
  }
  const box = $('notices');
  for (const old of [...box.children]) if (old.textContent === node.textContent || (about && old.dataset.about === about)) old.remove();
  box.append(node);
  while (box.children.length > 3) box.firstChild.remove();
  setTimeout(() => node.remove(), 6000);
}

export function onClick(id, act) {
  const button = $(id);
  button.addEventListener('click', () => {
    button.blur(); // the space bar is the gripper's, not the button's
    act();
  });
}
