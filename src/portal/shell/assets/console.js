// Live progress: reloads the marked parts of the page while one of them is busy, each second or as often as it says,
// from this page or the address that it names.
import { localTimes } from "./portal.js";

const EVERY_MS = 1000;

/** A part that somebody uses just now stays as it is, such as an open confirmation. */
function isInUse(part) {
  return part.contains(document.activeElement) || part.querySelector("details[open]") !== null;
}

function refreshLater() {
  const busy = document.querySelector("[data-live][data-busy]");
  if (busy) setTimeout(keepFresh, Number(busy.dataset.busy) || EVERY_MS);
}

async function refresh() {
  const from = document.querySelector("[data-live]").dataset.live || location.href;
  const answer = await fetch(from).catch(() => undefined);
  if (answer?.redirected) return location.reload();
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh || isInUse(part)) continue;
    localTimes(fresh);
    // Buttons that mean the same must not move under the pointer.
    if (!part.isEqualNode(fresh)) part.replaceWith(fresh);
  }
}

async function keepFresh() {
  if (!document.hidden) await refresh();
  refreshLater();
}

refreshLater();
