// Keeps the marked parts of the page up to date while one of them is busy, each second or as often as it says, from this
// page or the address that it names.
import { localTimes } from "./portal.js";

const EVERY_MS = 1000;
/** Times as long as an answer took, at least, so that slow pages keep no server busy. */
const REST = 10;

/** A part that somebody uses just now stays as it is, such as an open confirmation. */
function isInUse(part) {
  return part.contains(document.activeElement) || part.querySelector("details[open]") !== null;
}

function refreshLater(took = 0) {
  const busy = document.querySelector("[data-live][data-busy]");
  if (busy) setTimeout(keepFresh, Math.max(Number(busy.dataset.busy) || EVERY_MS, REST * took));
}

async function refresh() {
  const from = document.querySelector("[data-live]").dataset.live || location.href;
  const answer = await fetch(from).catch(() => undefined);
  if (answer?.redirected) return location.reload();
  showState(answer?.ok ? "badge-good" : "badge-warn", answer?.ok ? "Live" : "Not live");
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    // What was empty is filled by other parts now.
    if (!fresh && part.matches(".empty")) return location.reload();
    if (!fresh || isInUse(part)) continue;
    localTimes(fresh);
    // Buttons that mean the same must not move under the pointer.
    if (!part.isEqualNode(fresh)) part.replaceWith(fresh);
  }
}

/** On pages that say whether they are live. */
function showState(state, text) {
  const sign = document.getElementById("live");
  if (!sign) return;
  sign.hidden = false;
  sign.className = `badge ${state}`;
  const words = sign.querySelector("[role=status]");
  if (words.textContent !== text) words.textContent = text;
}

async function keepFresh() {
  const began = performance.now();
  if (!document.hidden) await refresh();
  refreshLater(performance.now() - began);
}

showState("badge-good", "Live");
refreshLater();
