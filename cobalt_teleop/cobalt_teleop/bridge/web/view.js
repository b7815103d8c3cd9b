// Puts what is known into the page. Nothing here decides anything.

const $ = (id) => document.getElementById(id);

function text(id, value) {
  const node = $(id);
  if (node.textContent !== value) node.textContent = value;
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

function capital(words) {
  return words ? words[0].toUpperCase() + words.slice(1) : '';
}

export function showConnection({ level: state, text: words, title, detail, curtain }) {
  level('connection', state);
  text('connection-text', words);
  $('curtain').hidden = !curtain;
  text('curtain-title', title ?? words);
  text('curtain-text', detail ?? '');
}

export function showGauges({ age_ms, round_trip_ms, fps, viewers }) {
  text('frame-age', age_ms === null ? '–' : age_ms > 9999 ? `${Math.round(age_ms / 1000)} s` : `${Math.round(age_ms)} ms`);
  $('frame-age').classList.toggle('bad', age_ms !== null && age_ms > 250);
  text('round-trip', round_trip_ms === null ? '–' : `${round_trip_ms < 10 ? round_trip_ms.toFixed(1) : Math.round(round_trip_ms)} ms`);
  text('frame-rate', fps ? `${Math.round(fps)} /s` : '–');
  text('viewers', viewers ? String(viewers) : '–');
}

export function showWorkcells(workcells, chosen) {
  const chooser = $('chooser');
  const choice = workcells.length >= (chosen ? 2 : 1);
  chooser.hidden = !choice;
  $('workcell-name').hidden = choice;
  text('workcell-name', chosen);
  const select = $('workcell');
  const key = workcells.map((workcell) => workcell.id).join();
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...workcells.map(({ id }) => new Option(id, id)));
  }
  if (document.activeElement !== select) select.value = chosen; // none is selected for an unknown one
}

export function showMotion({ level: state, title, words, limits }) {
  level('motion', state);
  text('motion-title', title);
  text('motion-text', words);
  list('limits', limits);
}

export function showEpisode({ episode, elapsed_s, recordingWords, recordingLevel, canStart, running, silent, labelable, yours }) {
  text('task', episode?.task ? `Task: ${episode.task}` : 'Task');
  text('instruction', episode?.instruction || 'Start an episode to see what is to be done.');
  text('clock', clockText(elapsed_s));
  const limit_s = episode?.time_limit_s ?? 0;
  $('progress').style.width = limit_s > 0 ? `${Math.min(100, (elapsed_s / limit_s) * 100)}%` : '0%';
  const phase = episode?.phase ?? 'idle';
  const words = {
    idle: 'No episode yet',
    preparing: 'Getting ready',
    running: limit_s > 0 ? `Running, of ${clockText(limit_s).slice(0, -2)}` : 'Running',
    paused: 'Paused',
    ending: 'Saving',
    ended: `Ended: ${episode?.outcome ?? ''}`,
  };
  text('phase', silent && phase === 'running' ? 'Interrupted' : words[phase] ?? phase);
  text('recording', recordingWords);
  level('recording', recordingLevel);
  $('start').disabled = !canStart;
  $('reset').disabled = !(running || canStart) || !yours;
  $('success').disabled = !((running && yours) || labelable);
  $('discard').disabled = !((running && yours) || labelable);
}

export function showControl({ state, title, note, button, enabled }) {
  level('holder-badge', state);
  text('holder', title);
  text('holder-note', note);
  text('take', button);
  $('take').disabled = !enabled;
}

export function showStop(stopped, by) {
  $('stop').hidden = stopped;
  $('stopped').hidden = !stopped;
  text('stopped-by', by ? `By ${by}. Look at the robot first.` : 'Look at the robot first.');
}

const VERDICTS = {
  accept: 'Accepted',
  review: 'To be reviewed',
  reject: 'Rejected',
  unknown: 'No verdict',
};

export function showLast({ episode, quality, recording }) {
  const ended = episode && (episode.phase === 'ended' || episode.phase === 'ending');
  const mine = quality?.final && (!ended || quality.episode === episode.id) ? quality : null;
  if (mine) {
    const outcome = ended && episode.id === mine.episode ? capital(episode.outcome) : '';
    level('verdict', mine.verdict);
    text('verdict-title', [VERDICTS[mine.verdict] ?? mine.verdict, outcome && outcome.toLowerCase()].filter(Boolean).join(', '));
    text('verdict-text', capital(mine.tip || (ended && episode.id === mine.episode && episode.end_reason) || ''));
    list('reasons', mine.reasons.slice(0, 6));
  } else if (ended && recording?.state === 'failed') {
    level('verdict', 'reject');
    text('verdict-title', 'Not saved');
    text('verdict-text', capital(recording.reason));
    list('reasons', []);
  } else if (ended) {
    const saving = episode.phase === 'ending' || recording?.state === 'finalising';
    level('verdict', saving ? 'busy' : 'none');
    text('verdict-title', saving ? 'Saving' : capital(episode.outcome));
    text('verdict-text', capital(episode.end_reason) || 'No verdict has come.');
    list('reasons', []);
  }
  const uri = mine?.uri || (ended && recording?.state === 'saved' ? recording.uri : '');
  $('bag').hidden = !uri;
  text('bag-path', uri ? `\u200e${uri}` : '');
}

let flashTimer = null;

export function flash(words, bad = false) {
  const node = $('flash');
  node.textContent = words;
  node.classList.toggle('fail', bad);
  node.hidden = false;
  clearTimeout(flashTimer);
  flashTimer = setTimeout(() => { node.hidden = true; }, 2500);
}

export function notice(words, kind = 'error') {
  const node = document.createElement('p');
  node.className = `notice ${kind}`;
  node.textContent = words;
  const box = $('notices');
  for (const old of box.children) if (old.textContent === words) old.remove();
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
