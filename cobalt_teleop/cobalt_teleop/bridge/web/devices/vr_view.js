// The headset's panel on the page: what to press there, and the way in and out.

const CONTROLS = [
  ['Grip, held', 'the gripper follows your hand'],
  ['Trigger', 'closes the gripper meanwhile'],
  ['Stick aside', 'turns forward and the pictures'],
  ['B or Y, held', 'emergency stop'],
];

function element(name, { classes = '', text = '', ...properties } = {}, children = []) {
  const node = Object.assign(document.createElement(name), properties);
  node.className = classes;
  if (text) node.textContent = text;
  node.append(...children);
  return node;
}

export function makeVrView(card) {
  const view = {
    how: element('p', { classes: 'vr-how' }),
    enter: element('button', { type: 'button', classes: 'primary vr-enter', text: 'Enter VR' }),
    enterThrough: element('button', { type: 'button', classes: 'vr-enter', text: 'Enter, see the room' }),
    leave: element('button', { type: 'button', classes: 'vr-enter', text: 'Leave VR', hidden: true }),
    missing: element('p', { classes: 'note vr-missing', role: 'status' }),
    state: element('p', { classes: 'vr-state', role: 'status', hidden: true }), // for who stands beside
    controls: element('dl', { classes: 'vr-controls' }, CONTROLS.flatMap(([control, does]) => [
      element('dt', { text: control }), element('dd', { text: does }),
    ])),
  };
  view.buttons = element('div', { classes: 'vr-buttons' }, [view.enter, view.enterThrough, view.leave]);
  view.root = element('section', { id: 'vr', classes: 'device vr', role: 'tabpanel', ariaLabel: 'VR headset', hidden: true }, [
    view.how, view.buttons, view.missing, view.state, view.controls,
  ]);
  card.append(view.root);
  return view;
}
