// Keeps the marked parts of the page up to date, from this page or the address that they name: whenever the stream that they name says
// that something has changed, or else each second or as often as they say while one of them is busy.
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
  showState(isLive);
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
function showState(isLive) {
  const sign = document.getElementById("live");
  if (!sign) return;
  sign.hidden = false;
  sign.className = `badge ${isLive ? "badge-good" : "badge-warn"}`;
  const words = sign.querySelector("[role=status]");
  const text = isLive ? "Live" : "Not live";
  if (words.textContent !== text) words.textContent = text;
}

/** Refreshes, then rests; milliseconds until it may again. */
async function refreshed(least = EVERY_MS) {
  const began = performance.now();
  if (!document.hidden) await refresh();
  return Math.max(least, REST * Math.min(performance.now() - began, PATIENCE_MS));
}

async function poll() {
  const busy = document.querySelector("[data-live][data-busy]");
  if (busy) setTimeout(poll, await refreshed(Number(busy.dataset.busy) || EVERY_MS));
}

/** Closed while nobody sees the page, as browsers open few connections to a host. */
function follow(address) {
  let [stream, isChanged, isBusy] = [undefined, false, false];
  const changed = async () => {
    isChanged = true;
    if (isBusy) return;
    isBusy = true;
    while (isChanged && !document.hidden) {
      isChanged = false;
      const rest = await refreshed();
      await new Promise((done) => setTimeout(done, rest));
    }
    isBusy = false;
  };
  const open = () => {
    stream?.close();
    if (document.hidden) return;
    stream = new EventSource(address);
    stream.addEventListener("changed", changed);
    stream.addEventListener("alive", () => showState(true));
    stream.addEventListener("error", () => showState(false));
  };
  document.addEventListener("visibilitychange", () => {
    open();
    if (!document.hidden) changed();
  });
  open();
}

const followed = document.querySelector("[data-events]");
if (followed) follow(followed.dataset.events);
else if (document.querySelector("[data-live][data-busy]")) {
  showState(true);
  setTimeout(poll, EVERY_MS);
}
