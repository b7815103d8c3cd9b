// The phone's panel as elements: what it shows before driving, and while driving.

function element(name, { classes = '', text = '', ...properties } = {}, children = []) {
  const node = Object.assign(document.createElement(name), properties);
  node.className = classes;
  if (text) node.textContent = text;
  node.append(...children);
  return node;
}

const button = (classes, text, children = []) => element('button', { type: 'button', classes, text }, children);
const shape = (classes) => {
  const node = element('i', { classes });
  node.setAttribute('aria-hidden', 'true');
  return node;
};

export function makePhoneView(card) {
  const view = {
    arm: element('div', { classes: 'phone-arm', hidden: true, role: 'radiogroup', ariaLabel: 'Which arm' }),
    how: element('p', { classes: 'phone-how' }),
    go: button('phone-go primary', ''),
    touchInstead: button('phone-other', 'Drive by touch instead'),
    missing: element('p', { classes: 'note phone-missing', role: 'status' }),
    forward: button('phone-forward', '', [shape('arrow')]),
    forwardTitle: element('b', { text: 'Point at robot' }),
    forwardWords: element('span'),
    turning: button('phone-turning', '', [element('b', { text: 'Turning' })]),
    turningWords: element('span'),
    scale: button('phone-scale', ''),
    done: button('phone-done', 'Done'),
    gripper: element('div', { classes: 'track phone-gripper', role: 'group', ariaLabel: 'Gripper: slide down to close, up to open' }, [
      element('span', { text: 'open' }), shape('thumb'), element('span', { text: 'closed' }),
    ]),
    pad: element('div', { classes: 'phone-pad', role: 'button', ariaLabel: 'Hold to move the arm' }),
    padTitle: element('strong'),
    padWords: element('span'),
    strip: element('div', { classes: 'track phone-strip', role: 'group', ariaLabel: 'Height: drag up and down' }, [
      element('span', { text: 'up' }), shape('rail'), element('span', { text: 'down' }),
    ]),
  };
  view.forward.append(element('span', {}, [view.forwardTitle, view.forwardWords]));
  view.turning.append(view.turningWords);
  view.pad.append(shape('sign'), element('div', { role: 'status', ariaLive: 'polite' }, [view.padTitle, view.padWords]));
  view.height = element('div', { classes: 'phone-column' }, [element('b', { text: 'Height' }), view.strip]);
  view.before = element('div', { classes: 'phone-before' }, [view.arm, view.go, view.how, view.touchInstead, view.missing]);
  view.driving = element('div', { classes: 'phone-driving', hidden: true }, [
    element('div', { classes: 'phone-bar' }, [view.forward, view.turning, view.scale, view.done]),
    element('div', { classes: 'phone-surfaces' }, [element('div', { classes: 'phone-column' }, [element('b', { text: 'Gripper' }), view.gripper]), view.pad, view.height]),
  ]);
  view.root = element('section', { id: 'phone', classes: 'device phone', role: 'tabpanel', ariaLabel: 'Phone' }, [view.before, view.driving]);
  card.append(view.root);
  return view;
}
