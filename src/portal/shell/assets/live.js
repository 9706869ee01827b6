// Live updates: increments counts and chart, prepends rows of recent clicks, and refreshes the breakdowns with a delay.
import { localTimes } from "./portal.js";

const KINDS = ["click", "preview", "qr_scan"];
const ROWS = 10;
/** Few enough in an hour for the limit on reads of the log, which some ranges need each time. */
const REFRESH_MS = 15_000;
/** Delay before a reload after `reset`: the projections may still be behind, so an immediate reload could show old numbers. */
const RELOAD_AFTER_RESET_MS = 10_000;

const sign = document.getElementById("live");
const whole = new Intl.NumberFormat("en");
const numberIn = (element) => Number(element.textContent.replace(/\D/g, ""));

function raise(element, by) {
  if (element && by > 0) element.textContent = whole.format(numberIn(element) + by);
}

/** False when the quarter-hour begins after the last point of the chart. One before the first is of no point. */
function countQuarter(table, quarter, counts) {
  const start = Date.parse(quarter);
  if (start >= Date.parse(table.dataset.next)) return false;
  const row = [...table.tBodies[0].rows].findLast(({ dataset }) => Date.parse(dataset.start) <= start);
  if (!row) return true;
  for (const [index, kind] of KINDS.entries()) {
    raise(row.querySelector(`[data-kind="${kind}"]`), counts[index]);
    for (const total of document.querySelectorAll(`[data-total~="${kind}"]`)) raise(total, counts[index]);
  }
  raise(row.querySelector('[data-kind="total"]'), sum(counts));
  return true;
}

function sum(counts) {
  return counts.reduce((total, count) => total + count, 0);
}

function addRow(body, shown) {
  const row = body.insertRow(0);
  row.className = "fresh";
  const names = [...body.parentElement.tHead.rows[0].cells].map((cell) => cell.textContent);
  for (const [index, field] of ["at", "kind", "place", "device", "browser", "referrer"].entries()) {
    const cell = row.insertCell();
    cell.dataset.label = names[index];
    if (field === "at") {
      cell.className = "nowrap";
      const time = document.createElement("time");
      time.dateTime = shown.at;
      cell.append(time);
    } else if (field === "referrer") {
      const text = document.createElement("span");
      text.className = "clip";
      text.title = shown.referrer;
      text.textContent = shown.referrer;
      cell.append(text);
    } else cell.textContent = shown[field];
  }
  localTimes(row);
  while (body.rows.length > ROWS) body.deleteRow(-1);
}

const later = { timer: undefined, reload: false };

/** Schedules a refresh of what live messages don't contain: visitors and breakdowns, or with `reload` the whole page. */
function refreshLater(reload) {
  later.reload ||= reload;
  later.timer ??= setTimeout(refresh, REFRESH_MS);
}

async function refresh() {
  later.timer = undefined;
  if (later.reload) return location.reload();
  const answer = await fetch(location.href).catch(() => undefined);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ["visitors", "breakdowns"]) {
    const fresh = page.getElementById(id);
    const old = document.getElementById(id);
    if (fresh && old && !old.contains(document.activeElement)) old.replaceWith(fresh);
  }
}

function counted({ quarters, recent }) {
  // The page of a link without clicks has no chart and tables to update.
  if (document.getElementById("first-click")) return location.reload();
  const figure = document.querySelector("[data-chart]");
  const table = figure.querySelector("table[data-unit]");
  let isOnChart = true;
  for (const [quarter, counts] of Object.entries(quarters))
    isOnChart = countQuarter(table, quarter, counts) && isOnChart;
  figure.dispatchEvent(new Event("counted"));
  document.getElementById("no-recent")?.remove();
  const body = document.getElementById("recent").tBodies[0];
  for (const shown of recent) addRow(body, shown);
  refreshLater(!isOnChart);
}

function showState(state, text) {
  sign.className = `badge ${state}`;
  sign.querySelector("[role=status]").textContent = text;
}

if (sign?.dataset.live) {
  sign.hidden = false;
  const source = new EventSource(sign.dataset.live);
  source.addEventListener("open", () => showState("badge-good", "Live"));
  source.addEventListener("clicks", ({ data }) => counted(JSON.parse(data)));
  source.addEventListener("reset", () => {
    source.close();
    showState("badge-warn", "Catching up");
    setTimeout(() => location.reload(), RELOAD_AFTER_RESET_MS);
  });
  source.addEventListener("signed-out", () => {
    source.close();
    showState("", "Signed out");
  });
  source.addEventListener("error", () =>
    source.readyState === EventSource.CLOSED
      ? showState("", "Not live")
      : showState("badge-warn", "Connecting"),
  );
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
}
