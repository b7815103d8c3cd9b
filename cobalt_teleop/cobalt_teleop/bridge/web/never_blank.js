// Says why the page has not started, where the browser is too old for it or withholds something. A plain script: the
// page's own modules may be what fails.

(function () {
  var PATIENCE_MS = 15000;
  var told = false;

  function tell(words) {
    if (told || window.cobalt) return;
    told = true;
    var title = document.getElementById('curtain-title');
    var text = document.getElementById('curtain-text');
    document.getElementById('connection').setAttribute('data-level', 'lost');
    document.getElementById('connection-text').textContent = 'This page did not start';
    title.textContent = 'This page did not start';
    text.textContent = words;
  }

  if (!('noModule' in document.createElement('script'))) {
    tell('This browser is too old for it. Use a current Chrome, Edge, Firefox or Safari.');
    return;
  }
  window.addEventListener('error', function (event) {
    var why = event.message || (event.target && event.target.src ? 'a part of it could not be loaded' : 'of an unknown fault');
    tell('Load it again; if that does not help, use a current Chrome, Edge, Firefox or Safari, and let this site keep data. ('
      + why + ')');
  }, true);
  setTimeout(function () {
    tell('A part of it does not come. Load it again, or look at the network.');
  }, PATIENCE_MS);
}());
