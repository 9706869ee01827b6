// Keeps the marked parts of the page up to date while one of them is busy, each second or as often as it says, from this
// page or the address that it names.
import { localTimes } from "./portal.js";

const EVERY_MS = 1000;
/** Times as long as an answer took, at least, so that slow pages keep no server busy. */
const REST = 10;
/** An answer that takes longer counts as none, and no rest is longer for it, such as after the machine slept. */
const PATIENCE_MS = 30_000;

/** A part that somebody uses just now stays as it is, such as an open confirmation. */
function isInUse(part) {
  return part.contains(document.activeElement) || part.querySelector("details[open]") !== null;
}

function refreshLater(took = 0) {
  const busy = document.querySelector("[data-live][data-busy]");
  if (busy)
    setTimeout(
      keepFresh,
      Math.max(Number(busy.dataset.busy) || EVERY_MS, REST * Math.min(took, PATIENCE_MS)),
    );
}

/** The text of a page; undefined when there is none just now, also when it breaks off. */
async function load(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const text = await answer.text();
    // Such as to the page to sign in.
    if (answer.redirected) location.reload();
    return answer.ok && !answer.redirected ? text : undefined;
  } catch {
    return undefined;
  }
}

async function refresh() {
  const text = await load(document.querySelector("[data-live]").dataset.live || location.href);
  const isLive = text !== undefined;
  showState(isLive ? "badge-good" : "badge-warn", isLive ? "Live" : "Not live");
  if (!isLive) return;
  const page = new DOMParser().parseFromString(text, "text/html");
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
