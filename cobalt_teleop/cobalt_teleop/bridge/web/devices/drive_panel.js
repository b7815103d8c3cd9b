// What a person drives with: a tab for each device that this browser can have, and how he likes to drive.

const FIELDS = [
  { key: 'reference', label: 'Move along', values: [['view', 'what you see'], ['base', "the robot's base"], ['tool', 'the gripper']] },
  { key: 'scale', label: 'Your hand to the arm', values: [[1, '1 : 1'], [0.5, '1 : 2'], [0.25, '1 : 4']], moves: true },
  { key: 'speed', label: 'Speed', values: [[0.5, 'slow'], [1, 'normal'], [1.5, 'fast']], rates: true },
  { key: 'hand', label: 'Your hand', values: [['right', 'right'], ['left', 'left']], moves: true },
  { key: 'sound', label: 'Sound', values: [[true, 'on'], [false, 'off']], moves: true },
  { key: 'vibration', label: 'Vibration', values: [[true, 'on'], [false, 'off']], moves: true },
];

// A device: { name, title, kind: 'keys' | 'moves' | 'rates', root, show(), hide() }; it is listed once it is there.
export class DrivePanel {
  constructor(settings) {
    this.settings = settings;
    this.devices = [];
    this.chosen = null;
    this.tabs = document.getElementById('drive-tabs');
    this.form = document.getElementById('drive-settings');
    const open = document.getElementById('drive-settings-open');
    open.addEventListener('click', () => {
      this.drawSettings(); // a device may have come or gone
      this.form.hidden = !this.form.hidden;
      open.setAttribute('aria-expanded', String(!this.form.hidden));
    });
    this.form.addEventListener('submit', (event) => event.preventDefault());
    settings.addEventListener('change', () => this.drawSettings());
    this.tabs.addEventListener('keydown', (event) => this.onArrow(event));
  }

  add(device) {
    this.devices.push(device);
    if (this.chosen) {
      device.root.hidden = true;
      this.draw();
    } else {
      this.choose(device);
    }
  }

  remove(device) {
    this.devices = this.devices.filter((one) => one !== device);
    device.root.hidden = true;
    if (this.chosen === device) this.choose(this.devices[0] ?? null);
    else this.draw();
  }

  choose(device) {
    if (this.chosen !== device) {
      this.chosen?.hide();
      this.chosen = device;
      device?.show();
    }
    for (const one of this.devices) one.root.hidden = one !== device;
    this.draw();
    this.drawSettings();
  }

  draw() {
    this.tabs.hidden = this.devices.length < 2;
    this.tabs.replaceChildren(...this.devices.map((device) => {
      const tab = document.createElement('button');
      tab.type = 'button';
      tab.role = 'tab';
      tab.id = `drive-tab-${device.name}`;
      tab.textContent = device.title;
      tab.setAttribute('aria-selected', String(device === this.chosen));
      tab.setAttribute('aria-controls', device.root.id);
      tab.tabIndex = device === this.chosen ? 0 : -1;
      tab.addEventListener('click', () => this.choose(device));
      return tab;
    }));
  }

  onArrow(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    const count = this.devices.length;
    this.choose(this.devices[(this.devices.indexOf(this.chosen) + step + count) % count]);
    document.getElementById(`drive-tab-${this.chosen.name}`)?.focus();
  }

  drawSettings() {
    const kind = this.chosen?.kind;
    const fields = FIELDS.filter((field) => (!field.moves || kind === 'moves') && (!field.rates || kind === 'rates'));
    const vr = document.createElement('p');
    vr.className = 'note';
    if (!this.devices.some(({ name }) => name === 'vr')) vr.textContent = 'VR headset: this browser reaches none. Open this page in the browser of the headset.';
    this.form.replaceChildren(...fields.map((field) => {
      const label = document.createElement('label');
      label.className = 'field';
      label.textContent = field.label;
      const select = document.createElement('select');
      select.name = field.key;
      for (const [value, words] of field.values) select.add(new Option(words, String(value), false, this.settings.get(field.key) === value));
      select.addEventListener('change', () => this.settings.set(field.key, field.values[select.selectedIndex][0]));
      label.append(select);
      return label;
    }), vr);
  }
}
