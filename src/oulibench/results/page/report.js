"use strict";
(() => {
  const ui = JSON.parse(document.getElementById("ui").textContent);
  const root = document.documentElement;

  // --- theme: the system's, until the reader chooses another
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // --- intervals in the main table
  const ranges = document.getElementById("ranges");
  if (ranges) {
    const apply = () => document.getElementById("table-main").classList.toggle("ranges", ranges.checked);
    ranges.addEventListener("change", apply);
    apply();
  }
  for (const table of document.querySelectorAll("table.sortable:not(#table-main)")) table.classList.add("ranges");

  // --- sortable tables: numbers by value, text in the page's language; what is missing comes last
  const collator = new Intl.Collator(root.lang, { numeric: true });
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = ui.sort;
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const first = table.tBodies[0].rows[0];
        const numeric = [...table.tBodies[0].rows].some((row) => row.cells[column].dataset.value !== undefined);
        const falling = head.getAttribute("aria-sort") === "descending" ? false
          : head.getAttribute("aria-sort") === "ascending" ? true : numeric;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const direction = falling ? -1 : 1;
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => {
          const [x, y] = [a.cells[column], b.cells[column]];
          if (!numeric) return direction * collator.compare(x.textContent, y.textContent);
          const [p, q] = [x.dataset.value, y.dataset.value];
          if (p === undefined || q === undefined) return (p === undefined) - (q === undefined);
          return direction * (Number(p) - Number(q));
        });
        for (const row of rows) row.classList.remove("rule");
        table.tBodies[0].append(...rows);
        if (first) table.tBodies[0].rows[0].scrollIntoView({ block: "nearest", inline: "nearest" });
      });
    });
  }

  // --- print everything that is folded
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });

  // --- items
  const holder = document.getElementById("data");
  if (!holder) return;
  const count = document.getElementById("count");
  const PER_PAGE = 50;

  async function unpack() {
    const packed = Uint8Array.from(atob(holder.textContent.trim()), (c) => c.charCodeAt(0));
    holder.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function options(select, values, texts) {
    const chosen = select.value;
    select.replaceChildren(new Option(ui.all, ""));
    values.forEach((value, i) => select.add(new Option(texts[i], String(value))));
    select.value = chosen;
    if (select.selectedIndex < 0) select.value = "";
  }

  function browse(data) {
    const byId = (id) => document.getElementById(id);
    const [system, task, shots, target, verdict, text] =
      ["f-system", "f-task", "f-shots", "f-target", "f-verdict", "f-text"].map(byId);
    const { cells, answers, rows, texts, reasons, flags, statuses, targets } = data;
    const PASSED = 1, FAILED = 0, FORMAL = 2, UNSCORED = 3, NO_ITEM = 4;
    const verdictNames = { [PASSED]: ui.passed, [FAILED]: ui.failed, [FORMAL]: ui.formal_only, [UNSCORED]: ui.unscored, [NO_ITEM]: ui.no_item };
    const total = rows.text.length;
    const folded = texts.map((t) => t.toLocaleLowerCase());
    options(system, data.systems.map((_, i) => i), data.systems);
    options(task, data.tasks.map((_, i) => i), data.tasks);
    const shotValues = [...new Set(cells.map((c) => c[2]))].sort((a, b) => a - b);
    options(shots, shotValues, shotValues.map(String));
    options(verdict, [PASSED, FAILED, FORMAL, UNSCORED, NO_ITEM], [PASSED, FAILED, FORMAL, UNSCORED, NO_ITEM].map((v) => verdictNames[v]));

    function targetsOfTask() {
      const found = new Set();
      if (task.value !== "") for (const [cell, t] of answers) if (cells[cell][1] === Number(task.value)) found.add(t);
      const sorted = [...found].sort((a, b) => collator.compare(targets[a], targets[b]));
      options(target, sorted, sorted.map((t) => targets[t]));
      target.disabled = sorted.length < 2;
    }

    let matching = [];
    let from = 0;

    function filter() {
      const want = (select) => (select.value === "" ? null : Number(select.value));
      const [s, t, k, g, v] = [system, task, shots, target, verdict].map(want);
      const needle = text.value.trim().toLocaleLowerCase();
      matching = [];
      for (let i = 0; i < total; i++) {
        const [cell, goal] = answers[rows.answer[i]];
        const [cellSystem, cellTask, cellShots] = cells[cell];
        if (s !== null && cellSystem !== s) continue;
        if (t !== null && cellTask !== t) continue;
        if (k !== null && cellShots !== k) continue;
        if (g !== null && goal !== g) continue;
        if (v !== null && rows.verdict[i] !== v && !(v === FAILED && rows.verdict[i] === FORMAL)) continue;
        if (needle && !folded[rows.text[i]].includes(needle)) continue;
        matching.push(i);
      }
      from = 0;
      show();
    }

    // Positions are counted in code points, as Python does, not in UTF-16 units.
    function marked(said, spans) {
      if (!spans || !spans.length) return [document.createTextNode(said)];
      const points = Array.from(said);
      const nodes = [];
      let at = 0;
      for (let i = 0; i + 1 < spans.length; i += 2) {
        const [start, end] = [Math.max(at, spans[i]), Math.min(points.length, spans[i + 1])];
        if (end <= start) continue;
        nodes.push(document.createTextNode(points.slice(at, start).join("")));
        const mark = document.createElement("mark");
        mark.textContent = points.slice(start, end).join("");
        nodes.push(mark);
        at = end;
      }
      nodes.push(document.createTextNode(points.slice(at).join("")));
      return nodes;
    }

    function element(name, className, ...children) {
      const made = document.createElement(name);
      if (className) made.className = className;
      made.append(...children);
      return made;
    }

    function card(i) {
      const kind = rows.verdict[i];
      const [cell, goal, epoch] = answers[rows.answer[i]];
      const [s, t, k] = cells[cell];
      const said = texts[rows.text[i]];
      const name = kind === PASSED ? "passed" : kind === FAILED || kind === FORMAL ? "failed" : "other";
      const badge = element("span", "badge", kind === NO_ITEM ? statuses[rows.status[i]] : verdictNames[kind]);
      const meta = [data.systems[s], data.tasks[t], targets[goal], `${k} ${ui.demonstrations}`];
      if (rows.number[i] !== null) meta.push(`${ui.item} ${rows.number[i]}`);
      if (epoch > 1) meta.push(`epoch ${epoch}`);
      if (rows.measured[i] !== null) meta.push(`${ui.measured}: ${rows.measured[i]}`);
      if (rows.score[i] !== null) meta.push(`${ui.score}: ${rows.score[i]}`);
      if (flags[rows.flags[i]]) meta.push(flags[rows.flags[i]]);
      const quoted = element("p", "said", ...marked(said, rows.spans[i]));
      quoted.lang = "it";
      return element("li", name, quoted, element("p", "why", badge, reasons[rows.reason[i]]), element("p", "meta", meta.join(" · ")));
    }

    const [previous, next] = [byId("previous"), byId("next")];
    function show() {
      const end = Math.min(from + PER_PAGE, matching.length);
      byId("list").replaceChildren(...matching.slice(from, end).map(card));
      const number = (n) => n.toLocaleString(root.lang);
      count.textContent = matching.length
        ? ui.page.replace("{from}", number(from + 1)).replace("{to}", number(end)).replace("{n}", number(matching.length))
        : ui.none;
      previous.disabled = from === 0;
      next.disabled = end >= matching.length;
      document.querySelector(".pager").hidden = matching.length <= PER_PAGE;
    }
    const turn = (by) => { from += by; show(); count.scrollIntoView({ block: "nearest" }); };
    previous.addEventListener("click", () => turn(-PER_PAGE));
    next.addEventListener("click", () => turn(PER_PAGE));
    task.addEventListener("change", targetsOfTask);
    for (const select of [system, task, shots, target, verdict]) select.addEventListener("change", filter);
    let waiting;
    text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 150); });
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("filters").hidden = false;
    targetsOfTask();
    filter();
    root.dataset.items = "ready";
  }

  if (typeof DecompressionStream === "undefined") {
    count.textContent = ui.old_browser;
    return;
  }
  unpack().then(browse);
})();
