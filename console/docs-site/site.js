/**
 * Runs on every page of the documentation: applies the console's theme, searches titles and headings, copies code. Every
 * page can be read without it.
 */
(() => {
  const system = matchMedia('(prefers-color-scheme: dark)');
  function applyTheme() {
    let kept = null;
    try {
      kept = localStorage.getItem('tollgate.theme');
    } catch {
      // A page from a file may have no storage.
    }
    const own = kept === 'light' || kept === 'dark' ? kept : null;
    document.documentElement.dataset.theme = own ?? (system.matches ? 'dark' : 'light');
  }
  applyTheme();
  system.addEventListener('change', applyTheme);

  const RESULTS_MAX = 12;

  /** Entries are [title, address, [[heading, id], …]]; every word must occur, in titles first. */
  function find(words) {
    const scored = [];
    for (const [title, address, headings] of globalThis.tollgateDocs ?? []) {
      const name = title.toLowerCase();
      if (words.every((word) => name.includes(word))) {
        scored.push({ score: name.startsWith(words[0]) ? 3 : 2, title, context: '', address });
      }
      for (const [heading, id] of headings) {
        const text = heading.toLowerCase();
        const isFound = words.every((word) => text.includes(word) || name.includes(word));
        if (isFound && words.some((word) => text.includes(word))) {
          scored.push({
            score: text.startsWith(words[0]) ? 1.5 : 1,
            title: heading,
            context: title,
            address: `${address}#${id}`,
          });
        }
      }
    }
    return scored.sort((one, other) => other.score - one.score).slice(0, RESULTS_MAX);
  }

  function startSearch() {
    const search = document.querySelector('search');
    const input = search.querySelector('input');
    const panel = search.querySelector('#results');
    const list = panel.querySelector('ul');
    const status = panel.querySelector('p');
    search.hidden = false;
    function close() {
      panel.hidden = true;
    }
    function show() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length === 0) return close();
      const found = find(words);
      status.textContent =
        found.length === 0 ? `No page or heading contains “${input.value.trim()}”.` : `${found.length} results`;
      list.replaceChildren(
        ...found.map(({ title, context, address }) => {
          const link = document.createElement('a');
          link.href = address;
          link.append(title);
          if (context !== '') {
            const where = document.createElement('span');
            where.textContent = context;
            link.append(' ', where);
          }
          const item = document.createElement('li');
          item.append(link);
          return item;
        }),
      );
      panel.hidden = false;
    }
    function move(event, by) {
      const links = [...list.querySelectorAll('a')];
      const next = links.indexOf(document.activeElement) + by;
      event.preventDefault();
      if (next < 0) input.focus();
      else links[Math.min(next, links.length - 1)]?.focus();
    }
    input.addEventListener('input', show);
    input.addEventListener('focus', show);
    search.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown') move(event, 1);
      else if (event.key === 'ArrowUp') move(event, -1);
      else if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click();
      else if (event.key === 'Escape') {
        close();
        input.blur();
      }
    });
    list.addEventListener('click', close);
    search.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget !== null && !search.contains(relatedTarget)) close();
    });
    document.addEventListener('pointerdown', ({ target }) => {
      if (!search.contains(target)) close();
    });
    document.addEventListener('keydown', (event) => {
      const isTyping = event.target.closest('input, textarea') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.focus();
    });
  }

  function addCopyButtons() {
    // Browsers offer the clipboard to pages over https and from this machine.
    if (navigator.clipboard === undefined) return;
    for (const block of document.querySelectorAll('.code')) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'Copy';
      button.addEventListener('click', async () => {
        try {
          await navigator.clipboard.writeText(block.querySelector('code').textContent.trimEnd());
          button.textContent = 'Copied';
        } catch {
          button.textContent = 'Copy failed';
        }
        setTimeout(() => {
          button.textContent = 'Copy';
        }, 2_000);
      });
      block.append(button);
    }
  }

  document.addEventListener('DOMContentLoaded', () => {
    startSearch();
    addCopyButtons();
  });
})();
