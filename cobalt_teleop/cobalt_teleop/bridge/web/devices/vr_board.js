// A board of text in the scene: painted on a canvas when its words change, and only then carried to the headset.

export const COLOURS = {
  ground: '#0d1015', panel: '#151a22', raised: '#1e2530', line: '#29313d', text: '#e8ecf2', soft: '#c3cbd6', dim: '#9aa6b6',
  blue: '#5b94ff', amber: '#f3b749', stop: '#ff5f4e', stopDeep: '#c8281a',
};

const FONT = 'Inter, "Segoe UI", Roboto, system-ui, "Helvetica Neue", Arial, sans-serif';

export class VrBoard {
  // paint(context, words): onto a clean canvas of that size [px].
  constructor(painter, [width, height], paint) {
    Object.assign(this, { painter, paint });
    this.canvas = document.createElement('canvas');
    Object.assign(this.canvas, { width, height });
    this.context = this.canvas.getContext('2d');
    this.texture = painter.texture({ fine: true });
    this.key = null;
  }

  get ratio() {
    return this.canvas.width / this.canvas.height;
  }

  show(words) {
    const key = JSON.stringify(words);
    if (key === this.key) return;
    this.key = key;
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.paint(this.context, words);
    this.painter.fill(this.texture, this.canvas, { fine: true });
  }
}

export function rounded(context, colour, [x, y, width, height], radius) {
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  context.fill();
}

export function write(context, words, [x, y], { size = 28, weight = 450, colour = COLOURS.text, align = 'left' } = {}) {
  context.font = `${weight} ${size}px ${FONT}`;
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = 'alphabetic';
  context.fillText(words, x, y);
}

// Writes words into lines of a width; the last of them ends with an ellipsis if there are more. Returns how many lines.
export function writeLines(context, words, [x, y], { width, lines, step, ...style }) {
  context.font = `${style.weight ?? 450} ${style.size ?? 28}px ${FONT}`;
  const parts = [''];
  for (const word of words.split(' ')) {
    const longer = parts.at(-1) ? `${parts.at(-1)} ${word}` : word;
    if (context.measureText(longer).width <= width || !parts.at(-1)) parts[parts.length - 1] = longer;
    else parts.push(word);
  }
  const shown = parts.slice(0, lines);
  if (parts.length > lines) shown[lines - 1] = `${shown[lines - 1].replace(/[.,;:]?$/, '')} …`;
  shown.forEach((line, index) => write(context, line, [x, y + index * step], style));
  return shown.length;
}
