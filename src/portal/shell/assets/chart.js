// Replaces a figure's static SVG with an interactive chart, drawn from the figure's table.
import uPlot from "./uPlot.esm.js";

const KINDS = ["click", "qr_scan", "preview"];
const HEIGHT = 250;
const LABELS_HEIGHT = 34;
const whole = new Intl.NumberFormat();

/** Computed colours, because a canvas does not support light-dark(). */
function colours(figure) {
  const of = (element, property) => getComputedStyle(element)[property];
  return {
    kinds: KINDS.map((kind) => of(figure.querySelector(`.key-${kind}`), "backgroundColor")),
    text: of(figure.querySelector(".chart-keys"), "color"),
    line: of(figure.querySelector(".chart-keys"), "borderBottomColor"),
  };
}

function readTable(table) {
  const rows = [...table.tBodies[0].rows];
  const number = (row, kind) =>
    Number(row.querySelector(`[data-kind="${kind}"]`).textContent.replace(/\D/g, ""));
  return {
    unit: table.dataset.unit,
    starts: rows.map((row) => Date.parse(row.dataset.start) / 1000),
    counts: KINDS.map((kind) => rows.map((row) => number(row, kind))),
  };
}

/** Cumulative sums, so that the series are drawn stacked. */
function stacked({ starts, counts }) {
  const sums = starts.map(() => 0);
  const layers = counts.map((layer) =>
    layer.map((count, i) => {
      sums[i] += count;
      return sums[i];
    }),
  );
  return [starts, ...layers.reverse()];
}

/** Hours are shown in the visitor's time zone; days and months are counted by UTC and shown so. */
function labels(unit) {
  const zone = unit === "hour" ? undefined : "UTC";
  const short = {
    hour: { hour: "numeric", minute: "2-digit" },
    day: { day: "numeric", month: "short" },
    month: { month: "short" },
  };
  const long = {
    hour: { dateStyle: "medium", timeStyle: "short" },
    day: { dateStyle: "full" },
    month: { month: "long", year: "numeric" },
  };
  const axis = new Intl.DateTimeFormat(undefined, { ...short[unit], timeZone: zone });
  const legend = new Intl.DateTimeFormat(undefined, { ...long[unit], timeZone: zone });
  return { axis: (at) => axis.format(at * 1000), legend: (at) => legend.format(at * 1000) };
}

function draw(figure) {
  const holder = figure.querySelector(".chart-canvas");
  const table = figure.querySelector("table[data-unit]");
  const names = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
  let shown = readTable(table);
  let plot;

  const make = () => {
    const { kinds, text, line } = colours(figure);
    const label = labels(shown.unit);
    const axis = {
      stroke: text,
      grid: { stroke: line, width: 1 },
      ticks: { show: false },
      font: "12px system-ui",
    };
    const bars = uPlot.paths.bars({ size: [0.72, 56], radius: 0.12 });
    const layer = (index) => ({
      label: names[index],
      fill: kinds[index],
      stroke: kinds[index],
      width: 0,
      paths: bars,
      points: { show: false },
      value: (_, __, ___, at) => (at === null ? "–" : whole.format(shown.counts[index][at])),
    });
    const data = stacked(shown);
    plot?.destroy();
    const drawing = document.createElement("div");
    plot = new uPlot(
      {
        width: holder.clientWidth,
        height: HEIGHT,
        series: [
          { value: (_, at) => (at === null ? "–" : label.legend(at)), label: "When" },
          layer(2),
          layer(1),
          layer(0),
        ],
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: LABELS_HEIGHT,
            values: (_, splits) => splits.map(label.axis),
            splits: () => labelledStarts(shown.starts, holder.clientWidth),
          },
          {
            ...axis,
            size: 56,
            values: (_, splits) => splits.map((n) => (Number.isInteger(n) ? whole.format(n) : "")),
          },
        ],
        scales: {
          x: {
            time: false,
            range: (_, from, to) => [from - gap(shown.starts) * 0.6, to + gap(shown.starts) * 0.6],
          },
          y: { range: (_, __, most) => [0, Math.max(4, most * 1.08)] },
        },
        cursor: { y: false, drag: { x: false, y: false } },
      },
      data,
      drawing,
    );
    holder.replaceChildren(...drawing.childNodes);
  };

  make();
  new ResizeObserver(() => {
    if (plot.width !== holder.clientWidth) plot.setSize({ width: holder.clientWidth, height: HEIGHT });
  }).observe(holder);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", make);
  figure.addEventListener("counted", () => {
    shown = readTable(table);
    plot.setData(stacked(shown));
  });
}

function gap(starts) {
  return starts.length > 1 ? starts[1] - starts[0] : 3600;
}

/** As many labels as fit, always with the last one. */
function labelledStarts(starts, width) {
  const step = Math.ceil(starts.length / Math.max(2, Math.floor(width / 80)));
  return starts.filter((_, index) => (starts.length - 1 - index) % step === 0);
}

for (const figure of document.querySelectorAll("[data-chart]")) draw(figure);
