// To browsers, a tap of a second finger is no click. While a thumb holds the surface, what the other hand taps counts.

const ONE_TAP_MS = 500;

// isHeld(): a finger holds the surface. stop: the button that needs no tap, but acts as soon as it is touched.
export function clickWithSecondFinger(isHeld, stop) {
  let last = { button: null, at_ms: -Infinity };
  const click = (button) => {
    last = { button, at_ms: performance.now() };
    button.click();
  };
  const onFinger = (event, act) => {
    if (event.pointerType !== 'touch' || event.isPrimary || !isHeld()) return;
    const button = event.target.closest('button');
    if (button) act(button);
  };
  document.addEventListener('pointerdown', (event) => onFinger(event, (button) => { if (button === stop) click(button); }));
  document.addEventListener('pointerup', (event) => onFinger(event, (button) => {
    const above = document.elementFromPoint(event.clientX, event.clientY);
    if (button !== stop && button.contains(above)) click(button);
  }));
  // A browser that takes it for a click all the same has it done once.
  document.addEventListener('click', (event) => {
    if (event.isTrusted && last.button?.contains(event.target) && performance.now() - last.at_ms < ONE_TAP_MS) event.stopImmediatePropagation();
  }, { capture: true });
}
