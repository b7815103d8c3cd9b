// Who is here, as whom this page is known, and its place: at a workcell, in line, or looking on.

import { inWords, set } from '/view.js';

const $ = (id) => document.getElementById(id);

const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

export function ordinal(number) {
  return ORDINALS[number] ?? `number ${number}`;
}

const NAME = 'cobalt.name';

// The name of this browser's person; empty if it was never given, or the browser keeps nothing.
export function storedName() {
  try {
    return localStorage.getItem(NAME) ?? '';
  } catch {
    return '';
  }
}

function storeName(name) {
  try {
    localStorage.setItem(NAME, name);
  } catch { /* it holds until this page is closed */ }
}

const PANEL = 'cobalt.panel';

// A round badge with the first letter of a name, in the person's colour.
export function face(name, colour) {
  const node = document.createElement('i');
  drawFace(node, name, colour);
  return node;
}

function drawFace(node, name, colour) {
  set(node, 'className', `face c${colour}`);
  set(node, 'ariaHidden', 'true');
  put(node, [...(name ?? '')][0]?.toUpperCase() ?? '');
}

function put(node, value) {
  set(node, 'textContent', value);
}

export function whereabouts({ workcell, place, drives, position }) {
  if (drives) return `drives ${workcell}`;
  if (position) return `${ordinal(position)} in line${workcell ? `, watches ${workcell}` : ''}`;
  if (!workcell) return 'waits for a workcell';
  return workcell === place ? `at ${workcell}` : `watches ${workcell}`;
}

// What the strip above the picture says; null for nothing. `act` names what its button sends.
export function stripOf({ place, control, workcell, you, idle_s }) {
  if (!place || !you) return null;
  if (idle_s > 0) {
    return {
      level: 'warn', mark: String(idle_s), title: 'Are you still there?',
      text: `Others wait, and you have not moved for a while. ${place.workcell} goes to them in ${idle_s} s.`,
      button: 'I am still here', act: 'here',
    };
  }
  if (place.called && !control.yours && place.workcell) {
    return {
      level: 'turn', mark: '✓', title: `Your turn: ${place.workcell} is free for you`,
      text: 'Nothing moves until you take control.', button: 'Take control', act: 'acquire',
    };
  }
  if (place.missing_task && !place.workcell) {
    const have = place.workcells === 1 ? 'The only one has' : 'They have';
    return {
      level: 'line', mark: '–', title: `No workcell has the task "${place.missing_task}"`,
      text: `You are invited for it. ${have} ${inWords(place.tasks)}. You watch until one comes that has it.`, button: '', act: '',
    };
  }
  if (place.position) {
    const taken = ['No workcell is running yet.', 'The only workcell is taken.', 'Both workcells are taken.'][place.workcells]
      ?? `All ${place.workcells} workcells are taken.`;
    const meanwhile = workcell ? ` You watch ${workcell.id} meanwhile.` : '';
    return {
      level: 'line', mark: String(place.position), title: `You are ${ordinal(place.position)} in line`,
      text: taken + meanwhile, button: 'Leave the line', act: 'leave_line',
    };
  }
  if (you.role !== 'spectator' && !place.workcell && place.waiting) {
    const others = place.waiting === 1 ? 'One person waits' : `${place.waiting} people wait`;
    return { level: 'line', mark: '–', title: 'You watch', text: `${others} in line for a workcell.`, button: 'Get in line', act: 'join_line' };
  }
  return null;
}

export function makeLobby({ known, link, keyboard }) {
  let strip = null;
  let listed = '';
  let welcomed = false;

  const send = (act) => {
    if (act === 'join_line') forgetWish();
    link.send(act === 'acquire' ? { type: 'acquire', ask: false } : { type: act });
  };

  // Whoever gets in line takes any workcell, also after a reload.
  function forgetWish() {
    link.workcell = '';
    const url = new URL(location.href);
    url.searchParams.delete('workcell');
    history.replaceState(null, '', url);
  }

  $('strip-act').addEventListener('click', () => {
    $('strip-act').blur(); // the space bar is the gripper's
    if (strip) send(strip.act);
  });
  $('line').addEventListener('click', () => send('join_line'));

  // A click of the keyboard has no detail: who opens the sheet by it goes on in it.
  $('me').addEventListener('click', ({ detail }) => choose($('people').hidden, detail === 0));
  $('people-close').addEventListener('click', ({ detail }) => choose(false, detail === 0));

  function choose(shown, byKeyboard) {
    sessionStorage.setItem(PANEL, shown ? 'open' : 'closed');
    // Who has no name yet opens it to type one, and letters that no field takes would drive.
    const toType = shown && !isNamed() && matchMedia('(pointer: fine)').matches;
    open(shown, byKeyboard || toType);
  }

  // Who came to supervise sees the panel at once, where it leaves the picture in sight, unless he has closed it before.
  function welcome() {
    const supervises = known.you.role === 'supervisor' && !known.you.comes_to_drive && !known.you.companion;
    const hasRoom = !matchMedia('(max-width: 820px) and (orientation: portrait)').matches;
    if (welcomed || !supervises || !hasRoom) return;
    welcomed = true;
    $('supervise').open = true;
    if (sessionStorage.getItem(PANEL) !== 'closed') open(true, false);
  }

  function open(shown, byKeyboard) {
    $('people').hidden = !shown;
    $('me').setAttribute('aria-expanded', String(shown));
    if (byKeyboard) $(shown ? 'name' : 'me').focus();
    else document.activeElement?.blur(); // the space bar is the gripper's
    if (shown && known.you) $('name').value = storedName() || (isNamed() ? known.you.name : '');
  }

  // Whoever types a name does not drive by it.
  $('people').addEventListener('focusin', () => keyboard.releaseAll('you are typing'));

  $('name-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const name = $('name').value.trim();
    if (!name) return;
    link.operator = name;
    link.send({ type: 'rename', name });
    $('name').blur();
  });

  function isNamed() {
    return Boolean(known.you?.named_by_invitation || link.operator);
  }

  function renderMe() {
    const { you } = known;
    drawFace($('me-face'), isNamed() ? you?.name : '?', you?.colour ?? 7);
    put($('me-name'), you ? (isNamed() ? you.name : 'Your name?') : '');
    $('me').classList.toggle('unnamed', Boolean(you) && !isNamed());
    const kept = known.control.yours && ['preparing', 'running', 'paused', 'ending'].includes(known.episode?.phase) && !known.episode.practice;
    for (const id of ['name', 'name-save']) set($(id), 'disabled', Boolean(you?.named_by_invitation || kept));
    put($('name-note'), you?.named_by_invitation ? 'Your invitation names you.'
      : kept ? 'This episode is kept under this name. You can change it when the episode has ended.' : '');
    const placed = !known.place || Boolean(known.place.workcell || known.place.position || known.place.missing_task);
    set($('line'), 'hidden', !you || you.role === 'spectator' || placed);
  }

  function renderPeople() {
    const key = JSON.stringify([known.people, known.you?.name]);
    if (key === listed) return;
    listed = key;
    $('people-list').replaceChildren(...known.people.map((person) => {
      const row = document.createElement('li');
      const words = document.createElement('div');
      const name = document.createElement('strong');
      name.textContent = person.name === known.you?.name ? `${person.name} (you)` : person.name;
      const does = document.createElement('span');
      does.textContent = [person.role === 'operator' ? '' : person.role, whereabouts(person)].filter(Boolean).join(', ');
      words.append(name, does);
      row.append(face(person.name, person.colour), words);
      return row;
    }));
  }

  function renderStrip() {
    const next = link.socketOpen ? stripOf(known) : null;
    if (next?.level === 'turn' && strip?.level !== 'turn' && navigator.userActivation?.hasBeenActive) navigator.vibrate?.([120, 60, 120]);
    strip = next;
    set($('strip'), 'hidden', !strip);
    if (!strip) return;
    if ($('strip').dataset.level !== strip.level) $('strip').dataset.level = strip.level;
    put($('strip-mark'), strip.mark);
    put($('strip-title'), strip.title);
    put($('strip-text'), strip.text);
    put($('strip-act'), strip.button);
    set($('strip-act'), 'hidden', !strip.button);
    $('strip-act').className = strip.level === 'line' ? '' : 'primary';
  }

  return {
    // Escape stops the arm; whoever meant the sheet finds it closed, but for a supervisor, who releases stops in it.
    onEscape() { if (!$('people').hidden && !$('supervise').open) choose(false, false); },
    onRenamed: () => storeName(link.operator),
    welcome,
    forgetWish,
    render() {
      renderMe();
      renderPeople();
      renderStrip();
    },
    get strip() { return strip; },
  };
}
