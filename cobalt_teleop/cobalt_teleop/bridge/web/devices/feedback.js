// What a hand feels and an ear hears, so that the eyes can stay on the picture.

const SIGNS = {
  engaged: { buzz: [25], tones: [[880, 60]] },
  released: { buzz: [], tones: [[587, 50]] },
  limit: { buzz: [20, 60, 20], tones: [[330, 90]] },
  lost: { buzz: [120, 80, 120], tones: [[294, 110], [220, 160]] },
};
const LOUDNESS = 0.12;
const RISE_S = 0.008; // a tone that starts at once cracks

export class Feedback {
  constructor(settings) {
    this.settings = settings;
    this.audio = null;
  }

  // Must be called by a tap: browsers let no page sound before.
  start() {
    const Audio = window.AudioContext ?? window.webkitAudioContext;
    if (!Audio) return;
    this.audio ??= new Audio();
    this.audio.resume().catch(() => {}); // then it stays silent
  }

  stop() {
    this.audio?.suspend().catch(() => {});
  }

  // sign: one of engaged, released, limit, lost.
  give(sign) {
    const { buzz, tones } = SIGNS[sign];
    if (buzz.length && this.settings.get('vibration')) navigator.vibrate?.(buzz);
    if (this.settings.get('sound') && this.audio?.state === 'running') this.play(tones);
  }

  play(tones) {
    let at_s = this.audio.currentTime;
    for (const [hertz, ms] of tones) {
      const tone = new OscillatorNode(this.audio, { frequency: hertz });
      const loudness = new GainNode(this.audio, { gain: 0 });
      const end_s = at_s + ms / 1000;
      loudness.gain.setValueAtTime(0, at_s);
      loudness.gain.linearRampToValueAtTime(LOUDNESS, at_s + RISE_S);
      loudness.gain.setValueAtTime(LOUDNESS, end_s - RISE_S);
      loudness.gain.linearRampToValueAtTime(0, end_s);
      tone.connect(loudness).connect(this.audio.destination);
      tone.start(at_s);
      tone.stop(end_s);
      at_s = end_s;
    }
  }
}
