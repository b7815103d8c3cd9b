// The picture of what is to be done: small beside the instruction, large over the page while somebody looks at it.

import { sessionKey } from '/token.js';
import { set } from '/view.js';

const $ = (id) => document.getElementById(id);

export class Goal {
  // onOpen: called when the picture is about to cover the page.
  constructor({ onOpen }) {
    this.onOpen = onOpen;
    this.workcell = '';
    this.version = ''; // of the picture that is shown or on its way; empty for none
    $('goal').addEventListener('click', () => this.open());
    $('goal-large').addEventListener('click', ({ detail }) => this.close({ byKeyboard: detail === 0 }));
  }

  // The bridge tells which picture there is.
  async take({ workcell, version }) {
    if (workcell === this.workcell && version === this.version) return;
    this.workcell = workcell;
    this.version = version;
    const picture = version && await load(workcell);
    if (workcell !== this.workcell || version !== this.version) return; // another one has come meanwhile
    if (!picture) this.forget();
    else for (const id of ['goal-small', 'goal-full']) $(id).src = picture;
    $('goal').hidden = !picture;
  }

  forget() {
    this.workcell = this.version = '';
    this.close();
    $('goal').hidden = true;
  }

  tell(instruction) {
    set($('goal-small'), 'alt', instruction);
    set($('goal-words'), 'textContent', instruction);
  }

  open() {
    this.onOpen();
    $('goal-large').hidden = false;
    $('goal-large').focus(); // Enter closes it
  }

  close({ byKeyboard = false } = {}) {
    if ($('goal-large').hidden) return;
    $('goal-large').hidden = true;
    if (byKeyboard) $('goal').focus();
    else document.activeElement?.blur(); // the space bar is the gripper's
  }
}

// An address that holds the picture; null if there is none to be had.
async function load(workcell) {
  try {
    const path = workcell.split('/').map(encodeURIComponent).join('/');
    const answer = await fetch(`/goal/${path}`, { headers: { Authorization: `Bearer ${sessionKey()}` } });
    if (!answer.ok) return null;
    const picture = await answer.blob();
    return await new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.onerror = reject;
      reader.readAsDataURL(picture);
    });
  } catch {
    return null;
  }
}
