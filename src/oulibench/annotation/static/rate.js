// What the rating page gains from a script: the keyboard, the guideline of the chosen point, a draft that survives a
// closed tab, and sending again until the server has answered. Without it the page is a plain form and works too.
"use strict";
(() => {
  const form = document.getElementById("rating");
  if (!form) return;
  const scales = [...form.querySelectorAll(".scale")];
  const problem = document.getElementById("problem");
  const comment = form.elements.comment;
  const draftKey = "oulibench draft " + location.pathname;
  let active = 0;
  let sending = false;

  const chosen = (scale) => scale.querySelector("input:checked");
  const excused = () => form.querySelector("[data-excuses]:checked") !== null;
  const say = (text) => { problem.textContent = text; problem.hidden = !text; };

  // --- which question the digits answer ---
  const activate = (index, focus) => {
    active = Math.max(0, Math.min(index, scales.length - 1));
    scales.forEach((scale, i) => scale.classList.toggle("active", i === active));
    if (focus) (chosen(scales[active]) || scales[active].querySelector("input")).focus({ preventScroll: false });
  };
  const showHint = (scale, input) => {
    const point = input || chosen(scale);
    scale.querySelector(".hint").textContent = point ? point.dataset.guideline : "";
  };
  scales.forEach((scale, index) => {
    scale.addEventListener("focusin", () => activate(index, false));
    scale.addEventListener("change", () => { showHint(scale); say(""); saveDraft(); });
    scale.querySelectorAll(".point").forEach((label) => {
      label.addEventListener("mouseenter", () => showHint(scale, label.querySelector("input")));
      label.addEventListener("mouseleave", () => showHint(scale));
      label.addEventListener("click", () => {
        if (index === active && index + 1 < scales.length) activate(index + 1, false);
      });
    });
    showHint(scale);
  });

  // --- the draft: what is chosen and not yet acknowledged ---
  const storage = (action) => { try { return action(localStorage); } catch { return null; } };
  const read = () => {
    const data = [...new FormData(form)].filter(([name]) => !["csrf", "submission", "shown"].includes(name));
    return JSON.stringify(data);
  };
  const original = read();
  const saveDraft = (pending) => storage((s) => s.setItem(draftKey, JSON.stringify({
    data: JSON.parse(read()), submission: form.elements.submission.value, pending: pending === true })));
  const dropDraft = () => storage((s) => s.removeItem(draftKey));
  const restoreDraft = () => {
    let draft = null;
    try { draft = JSON.parse(storage((s) => s.getItem(draftKey))); } catch { dropDraft(); }
    if (!draft || !Array.isArray(draft.data) || JSON.stringify(draft.data) === original) { dropDraft(); return false; }
    form.querySelectorAll("input:checked").forEach((input) => { input.checked = false; });
    comment.value = "";
    for (const [name, value] of draft.data) {
      if (name === "comment") comment.value = value;
      else form.querySelectorAll("input").forEach((i) => { if (i.name === name && i.value === value) i.checked = true; });
    }
    if (draft.pending && typeof draft.submission === "string") form.elements.submission.value = draft.submission;
    scales.forEach((scale) => showHint(scale));
    return draft.pending === true;
  };
  comment.addEventListener("input", () => saveDraft());
  form.querySelectorAll(".flag input").forEach((i) => i.addEventListener("change", () => { say(""); saveDraft(); }));

  // --- sending ---
  const send = async () => {
    if (sending) return;
    if (!excused()) {
      const missing = scales.findIndex((scale) => !chosen(scale));
      if (missing >= 0) {
        say(form.getAttribute("data-missing-" + scales[missing].dataset.dimension.replaceAll("_", "-")));
        activate(missing, true);
        return;
      }
    }
    sending = true;
    saveDraft(true);
    for (;;) {
      try {
        const answer = await fetch(form.action, {
          method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" } });
        if (answer.ok) {
          const { next } = await answer.json();
          dropDraft();
          location.assign(next);
          return;
        }
        if (answer.status < 500) {
          const told = await answer.json().catch(() => ({ problem: answer.status + " " + answer.statusText }));
          say(told.problem);
          sending = false;
          saveDraft();
          return;
        }
      } catch { /* no answer: the server is down or on its way back */ }
      say(form.dataset.offline);
      await new Promise((resume) => setTimeout(resume, 1500));
    }
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); send(); });

  // --- the keyboard ---
  const press = (id) => { const element = document.getElementById(id); if (element && !element.disabled) element.click(); };
  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.target === comment) {
      if (event.key === "Escape") { comment.blur(); event.preventDefault(); }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { send(); event.preventDefault(); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const flag = form.querySelector('.flag input[data-key="' + CSS.escape(key) + '"]');
    const point = /^[0-9]$/.test(key) ? scales[active].querySelector('input[value="' + key + '"]') : null;
    if (point) {
      point.checked = true;
      point.dispatchEvent(new Event("change", { bubbles: true }));
      if (active + 1 < scales.length) activate(active + 1, true); else document.getElementById("save").focus();
    } else if (flag) {
      flag.click();
    } else if (key === "Enter") {
      if (event.target.closest && event.target.closest("a, button:not(#save)")) return;
      send();
    } else if (key === "ArrowDown") { activate(active + 1, true);
    } else if (key === "ArrowUp") { activate(active - 1, true);
    } else if (key === "c") { comment.focus();
    } else if (key === "u") { press("undo-button");
    } else if (key === "p" || (key === "ArrowLeft" && event.target.type !== "radio")) { press("previous");
    } else return;
    event.preventDefault();
  });

  const pending = restoreDraft();
  const first = scales.findIndex((scale) => !chosen(scale));
  activate(first < 0 ? 0 : first, false);
  if (pending) send();
})();
