// Keeps the screen on while somebody drives with it.

export class WakeLock {
  constructor() {
    this.wanted = false;
    this.lock = null;
    // A browser takes the lock away with the page's sight.
    document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'visible') this.take(); });
  }

  start() {
    this.wanted = true;
    this.take();
  }

  stop() {
    this.wanted = false;
    this.lock?.release().catch(() => {}); // it may be gone by itself
    this.lock = null;
  }

  async take() {
    if (!this.wanted) return;
    try {
      this.lock = (await navigator.wakeLock?.request('screen')) ?? null;
    } catch { /* a phone that saves its battery refuses */ }
    if (!this.wanted) this.stop();
  }
}
