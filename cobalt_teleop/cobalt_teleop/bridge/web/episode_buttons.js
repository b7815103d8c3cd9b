// What each button of the episode does now, or why it does nothing. Nothing here touches the page.

const GOING_ON = ['preparing', 'running', 'paused'];

// episode: the newest event of it, or null. yours: this page has control. barred: why none may be pressed, in a sentence.
// Returns, by button: its label, whether it may be pressed, and a sentence about it.
export function episodeButtons({ episode, yours, barred }) {
  const running = GOING_ON.includes(episode?.phase);
  const practises = running && episode.practice;
  const ended = episode?.phase === 'ended' && Boolean(episode.id) && !episode.practice;
  const one = (label, enabled, does, why) => ({ label, enabled: enabled && !barred, title: barred || (enabled ? does : why) });
  const end = (label, does) => one(label, running && yours, does, running ? 'Take control first.' : 'No episode is running.');
  return {
    start: one('Start', !running, 'Reset the workcell and start an episode; it is recorded', 'An episode is running.'),
    practise: one('Practise without recording', !running, 'Reset the workcell and try; nothing is recorded', 'An episode is running.'),
    reset: one('Start over', running, 'End this episode as aborted and start a new one', 'No episode is running.'),
    success: ended
      ? one('Mark success', episode.outcome !== 'success', 'Mark the last episode as a success', 'It counts as a success.')
      : end('Success', practises ? 'End the practice as a success' : 'End the episode and mark it as a success'),
    discard: ended
      ? one('Discard episode', episode.outcome !== 'discarded', 'Mark the last episode as not to be used; it stays on disk', 'It is discarded.')
      : practises
        ? end('End practice', 'End the practice; nothing of it was recorded')
        : end('Discard', 'End the episode and mark it as not to be used; it stays on disk'),
  };
}
