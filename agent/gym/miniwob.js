// Begins an episode of MiniWoB++ as browsergym-miniwob does. A `bare` page holds the task alone while an agent works: its
// goal, its timer and its display of rewards come back only while the page's own code begins or ends an episode.
([seed, mostMs, bare]) => {
  const ASIDE = ['reward-display', 'click-canvas', 'sync-task-cover'];
  let goal = '', aside = [];
  const hide = () => {
    core.clearTimer();
    document.body.removeEventListener('click', core.canvasDrawClick);
    const query = document.getElementById('query');
    goal = query.innerHTML;
    query.innerHTML = '';
    aside = ASIDE.map(id => document.getElementById(id));
    aside.forEach(part => part.remove());
  };
  const show = () => {
    document.getElementById('query').innerHTML = goal;
    document.body.append(...aside);
    core.createDisplay();
  };
  // A mark among the words of two tasks' goals is told as browsergym-miniwob tells it.
  const hex = colour => '#' + colour.match(/\d+/g).slice(0, 3).map(part => (+part).toString(16).padStart(2, '0')).join('');
  const MARKS = { 'click-menu-2': mark => `"${mark.classList[1]}"`, 'use-colorwheel-2': mark => hex(mark.style.backgroundColor) };
  const mark = MARKS[location.pathname.match(/([^/]*)\.html$/)?.[1]];
  const said = node => node.textContent.replace(/\s+/g, ' ').trim() || (node.nodeType === Node.ELEMENT_NODE ? mark(node) : '');
  if (mark) core.getUtterance = () => [...document.getElementById('query').childNodes].map(said).filter(Boolean).join(' ');
  if (bare) {
    hide();
    for (const name of ['startEpisodeReal', 'endEpisode', 'getUtterance']) {
      const own = core[name];
      core[name] = (...given) => {
        show();
        const told = own(...given);
        hide();
        return told;
      };
    }
  }
  Math.seedrandom(seed);
  core.EPISODE_MAX_TIME = mostMs;
  core.startEpisodeReal();
}
