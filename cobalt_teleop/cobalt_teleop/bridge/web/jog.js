// The key map, drawn as buttons that can be held down: a legend on a desktop, the controls on a phone.

const PADS = [
  { title: 'Move', names: ['down', 'away', 'up', 'left', 'closer', 'right'], short: {} },
  {
    title: 'Turn',
    names: ['yaw_left', 'pitch_up', 'yaw_right', 'roll_left', 'pitch_down', 'roll_right'],
    short: {},
  },
  { title: '', names: ['gripper', 'slow'], short: { gripper: 'gripper', slow: 'slow' }, wide: true },
];

// Shown in place of the key's name where there is no keyboard.
const SYMBOLS = {
  away: '↑', closer: '↓', left: '←', right: '→', up: '⤒', down: '⤓',
  yaw_left: '↺', yaw_right: '↻', pitch_up: '⤴', pitch_down: '⤵', roll_left: '⟲', roll_right: '⟳',
  gripper: '↔', slow: '½',
};

const KEY_NAMES = { Space: 'Space', ShiftLeft: 'Shift', ShiftRight: 'Shift' };

// Keys are places on the keyboard; their names are those of the person's own layout where the browser tells them.
export async function nameKeys() {
  const layout = await navigator.keyboard?.getLayoutMap?.().catch(() => null);
  return (code) => KEY_NAMES[code] ?? layout?.get(code)?.toUpperCase() ?? code.replace(/^Key|^Digit|^Arrow/, '');
}

export function drawPads(root, keyboard, keyName) {
  root.replaceChildren();
  const buttons = new Map();
  for (const pad of PADS) {
    const box = document.createElement('div');
    box.className = pad.wide ? 'pad wide' : 'pad';
    if (pad.title) {
      const title = document.createElement('h2');
      title.textContent = pad.title;
      box.append(title);
    }
    for (const name of pad.names) {
      const index = keyboard.actions.findIndex((action) => action.name === name);
      if (index < 0) continue;
      const action = keyboard.actions[index];
      const button = document.createElement('button');
      button.className = 'key';
      button.type = 'button';
      button.tabIndex = -1;
      button.dataset.action = name;
      button.title = `${action.label} (${[...new Set(action.codes.map(keyName))].join(' or ')})`;
      const key = document.createElement('b');
      key.textContent = keyName(action.codes[0]);
      const label = document.createElement('span');
      label.textContent = pad.short[name] ?? action.label;
      const symbol = document.createElement('i');
      symbol.textContent = SYMBOLS[name] ?? '';
      button.append(key, symbol, label);
      if (name === 'gripper') {
        label.textContent = '';
        const state = document.createElement('em');
        state.id = 'gripper-state';
        label.append('gripper', state);
      }
      button.addEventListener('pointerdown', (event) => {
        event.preventDefault();
        if (name === 'slow' && event.pointerType === 'touch') {
          // One thumb cannot hold it and a movement key too.
          if (keyboard.holds(index, 'toggle')) keyboard.release(index, 'toggle');
          else keyboard.press(index, 'toggle');
          return;
        }
        button.setPointerCapture(event.pointerId);
        keyboard.press(index, `pointer ${event.pointerId}`);
      });
      for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) {
        button.addEventListener(end, (event) => keyboard.release(index, `pointer ${event.pointerId}`));
      }
      button.addEventListener('contextmenu', (event) => event.preventDefault());
      box.append(button);
      buttons.set(index, button);
    }
    root.append(box);
  }
  return (bits) => {
    for (const [index, button] of buttons) button.classList.toggle('down', Boolean(bits & (1 << index)));
  };
}
