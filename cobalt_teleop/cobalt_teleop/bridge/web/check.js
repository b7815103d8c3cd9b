// The page of the connection test: runs it at once.

import { drawSteps, verdict } from '/connection_steps.js';
import { ConnectionTest } from '/connection_test.js';
import { takeTokenFromAddress, token } from '/token.js';

takeTokenFromAddress();
const test = new ConnectionTest(token());
const $ = (id) => document.getElementById(id);

function show() {
  const { level, title, text } = verdict(test);
  $('verdict').dataset.level = $('finding').dataset.level = level;
  $('finding-title').textContent = title;
  $('finding-text').textContent = text;
  $('again').disabled = $('copy').disabled = test.running;
  $('again').classList.toggle('primary', Boolean(test.failed));
  $('back').classList.toggle('primary', !test.failed);
}

// A tab that the page of the arm has opened leads back to that, where the session goes on.
if (window.opener) {
  $('back').textContent = 'Back to the arm';
  $('back').addEventListener('click', (event) => {
    event.preventDefault();
    window.close();
  });
}

drawSteps($('steps'), test);
test.addEventListener('change', show);
$('again').addEventListener('click', () => test.run());
$('copy').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(test.report());
    $('copy').textContent = 'Copied';
  } catch {
    $('copy').textContent = 'This browser did not allow it';
  }
  setTimeout(() => { $('copy').textContent = 'Copy the report'; }, 2500);
});
show();
test.run();

// For tests; nothing can be changed through it.
Object.defineProperty(window, 'connectionTest', {
  value: Object.freeze({
    get done() { return test.done; },
    get steps() { return test.steps.map(({ title, state, text, advice }) => ({ title, state, text, advice })); },
    get report() { return test.report(); },
  }),
});
