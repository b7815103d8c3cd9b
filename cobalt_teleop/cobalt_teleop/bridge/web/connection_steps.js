// Draws a connection test: a line for each step, what came of it, and what to do.

const GLYPHS = { waiting: '', running: '', passed: '✓', warning: '!', failed: '✕', skipped: '–' };
const WORDS = { waiting: 'waits', running: 'runs', passed: 'passed', warning: 'passed, with a note', failed: 'failed', skipped: 'not tried' };

export function drawSteps(root, test) {
  const list = document.createElement('ol');
  list.className = 'steps';
  const lines = test.steps.map((step) => {
    const line = document.createElement('li');
    const glyph = document.createElement('i');
    glyph.setAttribute('aria-hidden', 'true');
    const body = document.createElement('div');
    const title = document.createElement('strong');
    title.textContent = step.title;
    const state = document.createElement('span');
    state.className = 'visually-hidden';
    const text = document.createElement('span');
    const advice = document.createElement('p');
    body.append(title, state, text, advice);
    line.append(glyph, body);
    list.append(line);
    return { step, line, glyph, state, text, advice, body, video: null };
  });
  root.replaceChildren(list);
  const show = () => {
    for (const { step, line, glyph, state, text, advice } of lines) {
      line.dataset.state = step.state;
      glyph.textContent = GLYPHS[step.state];
      state.textContent = WORDS[step.state];
      text.textContent = step.text;
      advice.textContent = step.state === 'warning' ? step.advice : ''; // that of a failure stands above
      advice.hidden = !advice.textContent;
    }
    showPicture(lines.at(-1), test.video);
  };
  test.addEventListener('change', show);
  show();
}

function showPicture(last, stream) {
  if (!stream) {
    last.video?.remove();
    last.video = null;
  } else if (last.video?.srcObject !== stream) {
    last.video ??= document.createElement('video');
    Object.assign(last.video, { muted: true, autoplay: true, playsInline: true, srcObject: stream });
    last.line.append(last.video);
    last.video.play().catch(() => {});
  }
}

export function verdict(test) {
  if (test.running) return { level: 'wait', title: 'Testing the way to the server', text: 'This takes some seconds.' };
  if (!test.done) return { level: 'wait', title: 'Connection test', text: '' };
  if (test.failed) return { level: 'lost', title: test.failed.text, text: test.failed.advice };
  const noted = test.steps.some((step) => step.state === 'warning');
  return noted
    ? { level: 'live', title: 'It works, with a note', text: 'Everything needed for live video and control passes. Read the note below.' }
    : { level: 'live', title: 'All is well', text: 'Live video and control pass between this device and the server.' };
}
