(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const table = document.getElementById('table');
  if (!table) return;
  const WORDS = ['fail', 'unknown', 'warn', 'skip', 'pass'];
  const SIGNS = ['✕', '?', '!', '–', '·'];
  const FIRST = 150; // rows that are drawn at once
  const SHEET = 40; // columns that a sheet of paper has room for
  const byHost = document.getElementById('by-host');
  const byCheck = document.getElementById('by-check');
  const onlyFound = document.getElementById('only-found');
  const allChecks = document.getElementById('all-checks');
  const detail = document.getElementById('detail');
  const more = document.getElementById('more');
  let most = FIRST;
  let printing = false;

  const escape = (text) => String(text).replace(/[&<>"']/g, (c) => '&#' + c.charCodeAt(0) + ';');
  // Of a host: result by column.
  const cells = (host) => {
    const row = [];
    for (const number of data.hosts[host][2]) row[data.results[number][0]] = number;
    return row;
  };
  const rows = data.rows.map(([name, hosts]) => ({ name, hosts, cells: cells(hosts[0]), known: data.hosts[hosts[0]][2].length > 0 }));
  const found = data.checks.map((_, column) => rows.some((row) => row.cells[column] !== undefined && data.results[row.cells[column]][1] < 3));
  // A check that applies to no host is left out until somebody asks for it.
  const applies = data.checks.map((_, column) => rows.some((row) => row.cells[column] !== undefined && data.results[row.cells[column]][1] !== 3));
  const idle = applies.filter((of) => !of).length;
  if (idle > 0 && idle < applies.length) {
    allChecks.parentElement.hidden = false;
    allChecks.nextElementSibling.textContent = idle === 1 ? 'also the check that applies to no host' : `also the ${idle} checks that apply to no host`;
  }
  const hot = data.checks.map((_, column) => rows.some((row) => row.cells[column] !== undefined && data.results[row.cells[column]][1] === 0));
  const group = (id) => id.split('.')[0];

  // Some columns of some rows.
  function part(columns, shown) {
    const first = columns.map((column, at) => at === 0 || group(data.checks[columns[at - 1]][0]) !== group(data.checks[column][0]) ? 'first' : '');
    const html = ['<thead><tr><th></th>'];
    columns.forEach((column, at) => {
      const [id, title] = data.checks[column];
      html.push(`<th class="${first[at]}${hot[column] ? ' hot' : ''}" title="${escape(id + ': ' + title)}"><span>${escape(id)}</span></th>`);
    });
    html.push('</tr></thead><tbody>');
    shown.forEach((row) => {
      const at = rows.indexOf(row);
      const number = row.hosts.length > 1 ? `<small>${row.hosts.length} hosts</small> ` : '';
      html.push(`<tr data-row="${at}"><th scope="row" title="${escape(row.name)}">${number}${escape(row.name)}</th>`);
      if (!row.known) {
        html.push(`<td class="lost" colspan="${Math.max(columns.length, 1)}">${escape(data.hosts[row.hosts[0]][1])}</td></tr>`);
        return;
      }
      columns.forEach((column, place) => {
        const number = row.cells[column];
        if (number === undefined) { html.push(`<td class="${first[place]}"></td>`); return; }
        const status = data.results[number][1];
        html.push(`<td class="${first[place]}"><i class="s${status}" data-column="${column}">${SIGNS[status]}</i></td>`);
      });
      html.push('</tr>');
    });
    return html.join('') + '</tbody>';
  }

  function draw() {
    const wantedHost = byHost.value.trim();
    const wantedCheck = byCheck.value.trim();
    let columns = data.checks.map((_, column) => column).filter((column) => data.checks[column][0].includes(wantedCheck));
    if (!allChecks.checked && !wantedCheck && applies.some(Boolean)) columns = columns.filter((column) => applies[column]);
    const onlyThese = onlyFound.checked || (printing && found.some(Boolean));
    if (onlyThese) columns = columns.filter((column) => found[column]);
    let shown = rows;
    if (wantedHost) shown = shown.filter((row) => row.name.includes(wantedHost) || row.hosts.some((host) => data.hosts[host][0].includes(wantedHost)));
    if (onlyThese) shown = shown.filter((row) => !row.known || columns.some((column) => row.cells[column] !== undefined && data.results[row.cells[column]][1] < 3));
    // Paper is not scrolled: columns that one sheet has no room for stand below the others.
    const wide = printing ? SHEET : Math.max(columns.length, 1);
    const parts = [];
    for (let at = 0; at === 0 || at < columns.length; at += wide) parts.push(part(columns.slice(at, at + wide), shown.slice(0, most)));
    table.innerHTML = parts.join('');
    const hidden = shown.length - most;
    more.innerHTML = hidden > 0 ? `<button>${hidden} more rows</button>` : '';
    if (shown.length === 0) more.textContent = 'nothing matches';
    if (printing && onlyThese) more.textContent = 'Hosts and checks without findings are left out on paper.';
  }

  const link = (host) => `<a data-host="${host}">${escape(data.hosts[host][0])}</a>`;
  function result(number, hosts) {
    const [column, status, message, evidence, hint, because] = data.results[number];
    const [id, title, expects, why] = data.checks[column];
    const html = [`<div class="result"><p><span class="badge ${WORDS[status]}">${WORDS[status]}</span> <code>${escape(id)}</code> ${escape(data.texts[message])}</p>`];
    if (hosts && hosts.length) {
      html.push(`<p>${hosts.slice(0, 60).map(link).join(' ')}${hosts.length > 60 ? ` and ${hosts.length - 60} more` : ''}</p>`);
    }
    for (let at = 0; at < evidence.length; at += 2) {
      html.push(`<p class="from">${escape(data.texts[evidence[at]])}</p><pre>${escape(data.texts[evidence[at + 1]])}</pre>`);
    }
    if (because !== null) html.push(`<p class="hint">follows from <code>${escape(data.checks[because][0])}</code></p>`);
    if (hint !== null) html.push(`<p class="hint">${escape(data.texts[hint])}</p>`);
    if (status < 3) html.push(`<details><summary>${escape(title)}</summary><p>${escape(why)}</p><p class="dim">expected: ${escape(expects)}</p></details>`);
    html.push('</div>');
    return html.join('');
  }
  function show(html) {
    detail.innerHTML = '<button class="close" title="Esc">close</button>' + html;
    detail.hidden = false;
    detail.scrollTop = 0;
  }
  function showHost(host) {
    const [name, status, numbers] = data.hosts[host];
    const sorted = numbers.slice().sort((a, b) => data.results[a][1] - data.results[b][1]);
    const counts = WORDS.map((word, status) => [word, numbers.filter((number) => data.results[number][1] === status).length]);
    const summary = counts.filter(([, count]) => count).map(([word, count]) => `${count} ${word}`).join(', ');
    show(`<h2>${escape(name)}</h2><p class="dim">${escape(status)}${summary ? ': ' + summary : ''}</p>${sorted.map((number) => result(number)).join('')}`);
    history.replaceState(null, '', '#host=' + encodeURIComponent(name));
  }
  function showCell(row, column) {
    // Hosts of one row may still have different evidence.
    const byResult = new Map();
    for (const host of row.hosts) {
      const number = cells(host)[column];
      if (!byResult.has(number)) byResult.set(number, []);
      byResult.get(number).push(host);
    }
    const html = [];
    for (const [number, hosts] of [...byResult].slice(0, 40)) html.push(result(number, hosts));
    if (byResult.size > 40) html.push(`<p class="dim">and ${byResult.size - 40} different ones</p>`);
    show(`<h2>${escape(data.checks[column][0])}</h2><p class="dim">${escape(data.checks[column][1])}</p>${html.join('')}`);
  }

  table.addEventListener('click', (event) => {
    const line = event.target.closest('tr[data-row]');
    if (!line) return;
    const row = rows[line.dataset.row];
    const column = event.target.dataset.column;
    if (column !== undefined) showCell(row, Number(column));
    else if (row.hosts.length === 1) showHost(row.hosts[0]);
    else show(`<h2>${row.hosts.length} hosts that say the same</h2><p>${row.hosts.map(link).join(' ')}</p>`);
  });
  table.addEventListener('mouseover', (event) => {
    const column = event.target.dataset.column;
    if (column === undefined || event.target.title) return;
    const number = rows[event.target.closest('tr').dataset.row].cells[column];
    event.target.title = `${data.checks[column][0]}: ${data.texts[data.results[number][2]]}`;
  });
  detail.addEventListener('click', (event) => {
    if (event.target.classList.contains('close')) { detail.hidden = true; history.replaceState(null, '', '#'); }
    const host = event.target.dataset.host;
    if (host !== undefined) showHost(Number(host));
  });
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') detail.hidden = true; });
  more.addEventListener('click', () => { most += 1000; draw(); });
  for (const input of [byHost, byCheck, onlyFound, allChecks]) input.addEventListener('input', () => { most = FIRST; draw(); });
  // On paper it has only what was found, where anything was.
  for (const [moment, now] of [['beforeprint', true], ['afterprint', false]]) {
    window.addEventListener(moment, () => { printing = now; most = now ? rows.length : FIRST; draw(); });
  }
  document.getElementById('filter').addEventListener('submit', (event) => event.preventDefault());
  onlyFound.checked = rows.length > 60 && found.some(Boolean);
  draw();
  const wanted = /^#host=(.+)$/.exec(location.hash);
  if (wanted) {
    const host = data.hosts.findIndex(([name]) => name === decodeURIComponent(wanted[1]));
    if (host >= 0) showHost(host);
  }
})();
