// Live updates: increments counts and chart, prepends rows of recent clicks, and refreshes the breakdowns with a delay.
import { localTimes } from "./portal.js";

const KINDS = ["click", "preview", "qr_scan"];
const ROWS = 10;
const LENGTHS = { hour: 13, day: 10, month: 7 };
const REFRESH_MS = 5000;
/** Delay before a reload after `reset`: the projections may still be behind, so an immediate reload could show old numbers. */
const RELOAD_AFTER_RESET_MS = 10_000;

const sign = document.getElementById("live");
const whole = new Intl.NumberFormat("en");
const numberIn = (element) => Number(element.textContent.replace(/\D/g, ""));

function raise(element, by) {
  if (element && by > 0) element.textContent = whole.format(numberIn(element) + by);
}

/** False when the chart has no row for the hour, such as a new hour. */
function countHour(table, hour, counts) {
  const length = LENGTHS[table.dataset.unit];
  const row = [...table.tBodies[0].rows].find(
    ({ dataset }) => dataset.start.slice(0, length) === hour.slice(0, length),
  );
  if (!row) return false;
  for (const [index, kind] of KINDS.entries())
    raise(row.querySelector(`[data-kind="${kind}"]`), counts[index]);
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

/** Schedules a refresh of what live messages don't contain: the breakdowns, or with `reload` the whole page. */
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
  const fresh = page.getElementById("breakdowns");
  const old = document.getElementById("breakdowns");
  if (fresh && old && !old.contains(document.activeElement)) old.replaceWith(fresh);
}

function counted({ hours, recent }) {
  // The page of a link without clicks has no chart and tables to update.
  if (document.getElementById("first-click")) return location.reload();
  const figure = document.querySelector("[data-chart]");
  const table = figure.querySelector("table[data-unit]");
  let isOnChart = true;
  for (const [hour, counts] of Object.entries(hours)) {
    for (const [index, kind] of KINDS.entries())
      raise(document.querySelector(`[data-total="${kind}"]`), counts[index]);
    raise(document.querySelector('[data-total="total"]'), sum(counts));
    isOnChart = countHour(table, hour, counts) && isOnChart;
  }
  figure.dispatchEvent(new Event("counted"));
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
