// The supervisor's panel: every workcell and everybody, stop all, hand over, send away, invite.

import { clockText, inWords, set } from '/view.js';
import { qualityWords } from '/link_quality.js';
import { face, whereabouts } from '/lobby.js';

const $ = (id) => document.getElementById(id);

const SURE_MS = 4000;
const COPIED_MS = 2500;

function element(tag, className, words = '') {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.textContent = words;
  return node;
}

// A button that asks back once: the second press does it.
function sureButton(button, question, act) {
  const words = button.textContent;
  let asked = 0;
  const rest = () => { asked = 0; button.textContent = words; button.classList.remove('sure'); };
  button.type = 'button';
  button.addEventListener('click', () => {
    button.blur(); // the space bar is the gripper's
    if (Date.now() - asked < SURE_MS) {
      rest();
      act();
      return;
    }
    asked = Date.now();
    button.textContent = question;
    button.classList.add('sure');
    setTimeout(() => { if (asked && Date.now() - asked >= SURE_MS) rest(); }, SURE_MS + 50);
  });
  return button;
}

function linkWords(link) {
  if (!link) return '';
  const parts = [qualityWords(link)].filter(Boolean);
  if (link.rtt_ms !== null) parts.push(`${Math.round(link.rtt_ms)} ms round trip`);
  if (link.frame_age_ms !== null) parts.push(`picture ${Math.round(link.frame_age_ms)} ms old`);
  if (link.loss > 0.005) parts.push(`${(link.loss * 100).toFixed(0)} % lost`);
  return parts.join(', ');
}

const PHASES = { preparing: 'Getting ready', running: 'Running', paused: 'Paused', ending: 'Saving' };

function episodeWords({ phase, task, started_ms }, now_ms) {
  const words = PHASES[phase];
  if (!words) return '';
  return phase === 'running' ? `${words}${now_ms && started_ms ? ` ${clockText((now_ms - started_ms) / 1000).slice(0, -2)}` : ''}${task ? `, ${task}` : ''}` : words;
}

export function makeSupervisor({ known, link, clock, notice }) {
  let drawn = '';
  let watching = false;
  let tasks = '';

  sureButton($('release-all'), 'Release all? Press again', () => link.send({ type: 'release_stops', workcell: '', confirm: true }));
  $('stop-all').addEventListener('click', () => {
    $('stop-all').blur(); // the space bar is the gripper's
    if (!link.send({ type: 'stop_all' })) notice('The stop could not be sent: the bridge does not answer. The arms of its pages hold without it.');
  });

  $('invite-form').addEventListener('submit', (event) => {
    event.preventDefault();
    link.send({
      type: 'invite',
      role: $('invite-role').value,
      task: $('invite-task').value,
      name: $('invite-name').value.trim(),
      hours: Number($('invite-hours').value),
    });
  });
  $('invite-copy').addEventListener('click', async () => {
    $('invite-copy').blur();
    try {
      await navigator.clipboard.writeText($('invite-url').value);
      $('invite-copy').textContent = 'Copied';
      setTimeout(() => { $('invite-copy').textContent = 'Copy'; }, COPIED_MS);
    } catch {
      $('invite-url').select(); // to be copied by hand
    }
  });

  function workcellRow(workcell, people) {
    const row = element('li', workcell.emergency_stop ? 'stopped' : '');
    const head = element('div', 'head');
    const holder = people.find((person) => person.drives && person.workcell === workcell.id);
    const names = element('div', '');
    names.append(element('strong', '', workcell.id), element('span', '', workcell.emergency_stop ? `Stopped by ${inWords(workcell.emergency_stop_by)}`
      : !workcell.present ? 'Not there' : workcell.alive === false ? 'Does not answer' : workcell.holder ? `${workcell.holder} drives` : 'Nobody drives'));
    head.append(holder ? face(holder.name, holder.colour) : element('i', 'face none'), names);
    const detail = [episodeWords(workcell, clock.now()), holder ? linkWords(holder.link) : '', workcell.viewers ? `${workcell.viewers} watching` : ''].filter(Boolean).join(' · ');
    const acts = element('div', 'acts');
    if (workcell.emergency_stop) {
      acts.append(sureButton(element('button', '', 'Release stop'), 'Release? Press again', () => link.send({ type: 'release_stops', workcell: workcell.id, confirm: true })));
    }
    if (workcell.phase === 'running' && !workcell.holder) {
      acts.append(sureButton(element('button', '', 'End episode'), 'End it? Press again', () => link.send({ type: 'end_episode', workcell: workcell.id })));
    }
    const others = people.filter((person) => person.role !== 'spectator' && !(person.drives && person.workcell === workcell.id));
    if (workcell.present && others.length) {
      const choose = element('select', '');
      choose.setAttribute('aria-label', `Give ${workcell.id} to`);
      choose.append(new Option('Give to …', ''), ...others.map((person) => new Option(person.name, person.session)));
      choose.addEventListener('change', () => {
        if (choose.value) link.send({ type: 'give', workcell: workcell.id, session: choose.value });
        choose.value = '';
        choose.blur();
      });
      acts.append(choose);
    }
    row.append(head);
    if (detail) row.append(element('p', 'note', detail));
    if (acts.childElementCount) row.append(acts);
    return row;
  }

  function personRow(person) {
    const row = element('li', '');
    const words = element('div', '');
    words.append(
      element('strong', '', person.you ? `${person.name} (you)` : person.name),
      element('span', '', [person.role, person.connected ? whereabouts(person) : 'away for a moment', linkWords(person.link)].filter(Boolean).join(', ')),
    );
    row.append(face(person.name, person.colour), words);
    if (!person.you) row.append(sureButton(element('button', 'small', 'Send away'), 'Sure?', () => link.send({ type: 'send_away', session: person.session })));
    return row;
  }

  function isBusy() {
    // What is being chosen, or asked back, is not drawn over.
    return $('supervise').contains(document.activeElement) && document.activeElement.tagName === 'SELECT'
      || Boolean($('supervise').querySelector('li .sure'));
  }

  return {
    // The overview comes while the panel is looked at, and no longer.
    render() {
      const may = known.you?.role === 'supervisor';
      if ($('supervise').hidden === may) $('supervise').hidden = !may;
      // With one workcell, which this page shows, its emergency stop is all there is.
      const others = known.workcells.filter(({ id }) => id !== known.workcell?.id).length;
      set($('stop-all'), 'hidden', !may || !others);
      set($('stop-all').lastChild, 'textContent', `${known.workcells.length} workcells`);
      const looks = may && link.socketOpen && !$('people').hidden && $('supervise').open;
      if (looks !== watching) {
        watching = looks;
        if (link.socketOpen) link.send({ type: 'overview', on: looks });
      }
      if (!link.socketOpen) watching = false;
    },
    show({ workcells, people }) {
      const key = JSON.stringify([workcells, people]);
      if (key === drawn || isBusy()) return;
      drawn = key;
      $('overview-workcells').replaceChildren(...workcells.map((workcell) => workcellRow(workcell, people)));
      $('overview-people').replaceChildren(...people.map(personRow));
      $('release-all').hidden = !workcells.some((workcell) => workcell.emergency_stop);
      const all = [...new Set(workcells.flatMap((workcell) => workcell.tasks))].sort();
      if (all.join() !== tasks) {
        tasks = all.join();
        $('invite-task').replaceChildren(new Option('any task', ''), ...all.map((task) => new Option(task, task)));
      }
    },
    showInvitation({ token, picture, role, name, hours }) {
      $('invite-url').value = `${location.origin}/?invite=${token}`;
      $('invite-note').textContent = `For ${name || 'whoever has it'}: ${{ operator: 'may drive', spectator: 'may watch', supervisor: 'may supervise' }[role]}, for ${hours === 1 ? 'one hour' : `${hours} hours`}`;
      $('invite-link').hidden = false;
      const code = $('invite-code');
      code.hidden = !picture; // where the server is open on its own machine alone, a code leads nobody here
      code.onload = () => code.scrollIntoView({ block: 'nearest' });
      if (picture) code.src = picture;
      $('invite-url').scrollIntoView({ block: 'nearest' });
    },
  };
}
