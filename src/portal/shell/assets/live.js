// Keeps the marked parts of the page up to date, from this page or the address that they name: whenever the stream that they name says
// that something has changed, or else each second or as often as they say while one of them is busy.
import { localTimes } from "./portal.js";

const EVERY_MS = 1000;
/** Times as long as an answer took, at least, so that slow pages keep no server busy. */
const REST = 10;
/** An answer that takes longer counts as none, and no rest is longer for it, such as after the machine slept. */
const PATIENCE_MS = 30_000;
/** Browsers open a stream again that broke off, but none that was refused, such as by a proxy while the service starts. */
const AGAIN_MS = 10_000;

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

/** Whether there was a page. */
async function refresh() {
  const text = await load(document.querySelector("[data-live]").dataset.live || location.href);
  const isLive = text !== undefined;
  showState(isLive);
  if (!isLive) return false;
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    // What was empty is filled by other parts now.
    if (!fresh && part.matches(".empty")) {
      location.reload();
      return true;
    }
    if (!fresh || isInUse(part)) continue;
    localTimes(fresh);
    // Buttons that mean the same must not move under the pointer.
    if (!part.isEqualNode(fresh)) part.replaceWith(fresh);
  }
  return true;
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

/** `rest`: milliseconds until it may again. */
async function refreshed(least = EVERY_MS) {
  const began = performance.now();
  const isFresh = !document.hidden && (await refresh());
  return { isFresh, rest: Math.max(least, REST * Math.min(performance.now() - began, PATIENCE_MS)) };
}

async function poll() {
  const busy = document.querySelector("[data-live][data-busy]");
  if (busy) setTimeout(poll, (await refreshed(Number(busy.dataset.busy) || EVERY_MS)).rest);
}

/** Closed while nobody sees the page, as browsers open few connections to a host. */
function follow(address) {
  let [stream, again, isChanged, isBusy] = [undefined, undefined, false, false];
  // Of what happened without a stream, nobody says anything.
  let mayLack = false;
  const changed = async () => {
    isChanged = true;
    if (isBusy) return;
    isBusy = true;
    while (isChanged && !document.hidden) {
      isChanged = false;
      const { isFresh, rest } = await refreshed();
      mayLack ||= !isFresh;
      await new Promise((done) => setTimeout(done, rest));
    }
    isBusy = false;
  };
  const alive = () => {
    if (!mayLack) return showState(true);
    mayLack = false;
    changed();
  };
  const broken = ({ target }) => {
    mayLack = true;
    showState(false);
    if (target.readyState === EventSource.CLOSED)
      again = setTimeout(() => {
        changed();
        open();
      }, AGAIN_MS);
  };
  const open = () => {
    stream?.close();
    clearTimeout(again);
    if (document.hidden) return;
    stream = new EventSource(address);
    stream.addEventListener("changed", changed);
    stream.addEventListener("alive", alive);
    stream.addEventListener("error", broken);
  };
  document.addEventListener("visibilitychange", () => {
    mayLack = true;
    open();
  });
  open();
}

const followed = document.querySelector("[data-events]");
if (followed) follow(followed.dataset.events);
else if (document.querySelector("[data-live][data-busy]")) {
  showState(true);
  setTimeout(poll, EVERY_MS);
}
