// What somebody who asks for control, is asked for it, or hands it over wants to know. Nothing here touches the page.

// before, now: two `control` events, one after the other. Returns a sentence; empty if nothing of it has changed.
export function newsOfControl(before, now) {
  if (now.yours && now.requested_by && now.requested_by !== before.requested_by) return `${now.requested_by} asks for control: "Hand over" gives it.`;
  if (now.you_ask && !before.you_ask) {
    const asked = `${now.holder} has been asked for control`;
    return now.holds_by ? `${asked}: it comes once nothing was pressed there for three seconds.` : `${asked}.`;
  }
  if (now.yours && before.you_ask) return before.holder ? `You have control now: ${before.holder} gave it.` : 'You have control now.';
  if (before.yours && !now.yours && now.holder) return `${now.holder} has control now.`;
  return '';
}
