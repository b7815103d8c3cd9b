// How pictures reach the screen: which road this browser can take, which it takes, and when it falls back.

import { pageNow } from '/clock.js';
import { trackCodecs } from '/link.js';
import { isCompanion } from '/token.js';
import { TrackScreen } from '/track_screen.js';
import { UnitScreen, canDecodeUnits } from '/unit_screen.js';

const MOST_FALLBACKS = 3; // after so many a page keeps to the track
const PATIENCE_S = 2; // after a cut of the network control may be back a moment before the pictures
const STILL_MS = 1500; // pictures that stand for so long, while control lives, ask for a new connection
const AGAIN_MS = 60_000; // pictures of the fast road that stand a second time within so long are a reason to leave it

const WORDS = {
  units: ['direct', 'Pictures go straight into a decoder of this page: the fast road.'],
  track: ['video element', 'Pictures go through the browser’s video element, which works everywhere and shows them a little later.'],
};

export class Roads {
  // `controlLives` tells whether the connection for control has worked of late.
  constructor({ link, cameras, clock, controlLives }) {
    Object.assign(this, { link, cameras, clock, controlLives });
    const wish = new URL(location.href).searchParams.get('road');
    this.forced = wish in WORDS ? wish : null;
    this.name = ''; // the road of the connection that there is
    this.fellBack = ''; // why the fast road was left
    this.wanted = 'track';
    this.fallbacks = 0;
    this.renewed_ms = -Infinity; // when the fast road was last made anew, as its pictures stood
    this.stood_s = 0; // for how long pictures have stood while control lived
    link.addEventListener('video', ({ detail }) => this.equip(detail));
    link.addEventListener('hello', () => this.startAnew());
  }

  // Finds out what this browser can do; before the first hello.
  async choose() {
    this.units = !isCompanion() && await canDecodeUnits();
    this.track = trackCodecs().length > 0;
    if (this.forced) this.wanted = this.forced;
    else if (this.units) this.wanted = 'units';
    this.link.road = this.wanted;
  }

  // The link has been made anew, perhaps over another network: what the fast road did on the old one says little.
  startAnew() {
    if (this.forced || !this.units || this.fallbacks >= MOST_FALLBACKS) return;
    this.wanted = this.link.road = 'units';
    this.fellBack = '';
  }

  get canShowVideo() {
    return this.track || this.units;
  }

  get words() {
    if (!this.name) return ['–', 'No pictures come.'];
    const [name, title] = WORDS[this.name];
    return [name, this.fellBack && this.name === 'track' ? `${title} The fast road was left: ${this.fellBack}.` : title];
  }

  equip({ peer, offer }) {
    this.name = offer.road;
    if (offer.road === 'units') peer.ondatachannel = ({ channel }) => this.showUnits(offer.cameras[channel.label], channel);
    else {
      peer.ontrack = ({ track, transceiver, receiver }) => {
        if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;
        if ('playoutDelayHint' in receiver) receiver.playoutDelayHint = 0;
        this.show(offer.cameras[transceiver.mid], (onShown) => new TrackScreen(track, transceiver.mid, onShown));
      };
    }
  }

  showUnits(name, channel) {
    this.show(name, (onShown) => new UnitScreen(channel, {
      onShown,
      onFault: (reason) => this.fallBack(reason),
      roundTrip_ms: () => this.clock.round_trip_ms,
    }));
  }

  show(name, make) {
    const camera = this.cameras.byName.get(name);
    if (!camera) return;
    const screen = make((shown) => camera.onShown(screen, shown));
    camera.show(screen);
  }

  // Leaves the fast road, if there is another.
  fallBack(reason) {
    if (this.wanted !== 'units' || this.forced === 'units' || !this.track) {
      this.link.video.renew();
      return;
    }
    this.wanted = this.link.road = 'track';
    this.fellBack = reason;
    this.fallbacks += 1;
    this.link.restartVideo();
  }

  // Once a second. A picture that stands while control lives means a new connection, without a reload: a network that
  // was gone leaves a dead one behind, and that says nothing of the road.
  watch() {
    const { video } = this.link;
    const stands = this.cameras.byName.size > 0 && !this.cameras.isLive() && this.controlLives();
    this.stood_s = stands ? this.stood_s + 1 : 0;
    if (this.stood_s < PATIENCE_S) return;
    if (pageNow() - video.since_ms < 2 * STILL_MS) return;
    if (this.name !== 'units') {
      if (video.state === 'connected') video.renew();
    } else if (pageNow() - this.renewed_ms < AGAIN_MS) this.fallBack('its pictures did not come');
    else if (video.renew()) this.renewed_ms = pageNow();
  }
}
