// How a person likes to drive; kept in this browser, for each name of a person.

const DEFAULTS = { reference: 'view', scale: 1, speed: 1, hand: 'right', sound: true, vibration: true };
const CHOICES = { reference: ['view', 'base', 'tool'], scale: [0.25, 0.5, 1], speed: [0.5, 1, 1.5], hand: ['right', 'left'], sound: [true, false], vibration: [true, false] };

export class Settings extends EventTarget {
  constructor() {
    super();
    this.name = '';
    this.values = { ...DEFAULTS };
  }

  get(key) {
    return this.values[key];
  }

  set(key, value) {
    if (!CHOICES[key].includes(value) || this.values[key] === value) return;
    this.values[key] = value;
    try {
      localStorage.setItem(this.place, JSON.stringify(this.values));
    } catch { /* a browser that keeps nothing */ }
    this.dispatchEvent(new Event('change'));
  }

  // The person is known, or is somebody else now.
  of(name) {
    if (name === this.name) return;
    this.name = name;
    this.values = { ...DEFAULTS, ...this.kept() };
    this.dispatchEvent(new Event('change'));
  }

  get place() {
    return `cobalt.settings.${this.name}`;
  }

  kept() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.place) ?? '{}');
      return Object.fromEntries(Object.entries(kept).filter(([key, value]) => CHOICES[key]?.includes(value)));
    } catch {
      return {};
    }
  }
}
