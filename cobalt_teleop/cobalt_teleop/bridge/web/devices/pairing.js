// Has a phone join this page's session: as a controller in the hand of who looks at this screen, or as a second hand.

const MINUTES = 60;

// page: as for addDevices, and pair(): asks the bridge for a code, answered by the event `pairing`.
export function addPairing({ panel, notice, pair }) {
  if (matchMedia('(pointer: coarse)').matches) return { show() {}, tell() {} };
  const root = document.createElement('section');
  root.id = 'device-pair';
  root.className = 'device pair';
  root.role = 'tabpanel';
  root.hidden = true;
  const text = document.createElement('p');
  const code = document.createElement('div');
  code.className = 'pair-code';
  const button = document.createElement('button');
  button.type = 'button';
  button.addEventListener('click', pair);
  const note = document.createElement('p');
  note.className = 'note';
  root.append(text, code, button, note);
  document.querySelector('.card.keys').append(root);

  function idle(companions, left) {
    if (companions) text.textContent = `${companions === 1 ? 'A phone is' : 'Two phones are'} paired with this page. Press the blue button on it, then do what its screen says: the arm follows.`;
    else if (left) text.textContent = 'Your phone is away. Wake it, and it comes back by itself. If its page was closed, pair it again.';
    else text.textContent = 'Drive with a phone in your hand: by how it moves, or by a finger on it. The pictures stay on this screen.';
    button.textContent = companions ? 'Pair another phone' : 'Pair a phone';
    button.hidden = companions >= 2;
    code.replaceChildren();
    note.textContent = '';
  }
  idle(0, false);
  // No link to click: it would be opened on this screen, and is for the phone.
  function linkToSend(url) {
    const box = document.createElement('div');
    const words = document.createElement('p');
    words.className = 'note';
    words.textContent = 'Without a camera, open this on it:';
    const address = document.createElement('code');
    address.textContent = url;
    const copy = document.createElement('button');
    copy.type = 'button';
    copy.textContent = 'Copy';
    copy.addEventListener('click', async () => {
      copy.blur();
      try {
        await navigator.clipboard.writeText(url);
        notice('The link for the phone is copied.', 'info');
      } catch {
        getSelection().selectAllChildren(address); // to be copied by hand
      }
    });
    box.append(words, address, copy);
    return box;
  }

  // What is to be scanned has to be in sight, wholly.
  const reveal = () => code.scrollIntoView({ block: 'nearest' });
  panel.add({ name: 'pair', title: 'Phone', kind: 'moves', root, show: () => setTimeout(reveal), hide() {} });
  return {
    // The bridge has made a code.
    show({ links, picture, seconds }) {
      if (!links.length) {
        note.textContent = 'This server is open on its own machine alone, so no phone can reach it. Whoever runs it can open it: start it again with host:=0.0.0.0 added, such as make run ARGS="host:=0.0.0.0"';
        return;
      }
      text.textContent = 'Scan this with the phone that you want to hold. It lets that one phone drive for you: show it to nobody else.';
      const image = new Image();
      image.addEventListener('load', reveal);
      image.src = picture;
      image.alt = 'Code for the phone';
      code.replaceChildren(image, linkToSend(links[0]));
      button.textContent = 'Make a new code';
      note.textContent = `The code is good for ${Math.round(seconds / MINUTES)} minutes. The phone must be in the same network, and warns once of the certificate.`;
    },
    // How many phones are here now. A code that is just being scanned stays when one goes.
    tell(companions) {
      const before = this.companions ?? 0;
      this.companions = companions;
      if (companions > before || (companions < before && !code.hasChildNodes())) idle(companions, companions < before);
    },
  };
}
