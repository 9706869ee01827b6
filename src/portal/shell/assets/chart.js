// Replaces a figure's static SVG with an interactive chart, drawn from the figure's table.
import uPlot from "./uPlot.esm.js";

const HEIGHT = 250;
const LABELS_HEIGHT = 34;
const LABEL_WIDTH = 80;
const whole = new Intl.NumberFormat();

/** Computed colours, because a canvas does not support light-dark(). */
function colours(figure, kinds) {
  const of = (element, property) => getComputedStyle(element)[property];
  return {
    kinds: kinds.map((kind) => of(figure.querySelector(`.key-${kind}`), "backgroundColor")),
    text: of(figure.querySelector(".chart-keys"), "color"),
    line: of(figure.querySelector(".chart-keys"), "borderBottomColor"),
  };
}

/** `kinds`, `names` and `counts`: of each layer, from the bottom. */
function readTable(table) {
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.querySelectorAll("[data-kind]")];
  const kinds = heads.map((head) => head.dataset.kind);
  const number = (row, kind) =>
    Number(row.querySelector(`[data-kind="${kind}"]`).textContent.replace(/\D/g, ""));
  return {
    kinds,
    names: heads.map((head) => head.textContent),
    starts: rows.map((row) => Date.parse(row.dataset.start) / 1000),
    counts: kinds.map((kind) => rows.map((row) => number(row, kind))),
  };
}

/** Cumulative sums, so that the series are drawn stacked, the highest first. */
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

/** Hours without a zone are shown in the visitor's. */
function labels({ unit, zone }, starts) {
  const isDays = unit === "hour" && starts.length > 48;
  const short = {
    hour: { hour: "numeric", minute: "2-digit" },
    day: { day: "numeric", month: "short" },
    week: { month: "short", year: "numeric" },
    month: { month: "short", year: "numeric" },
  };
  const long = {
    hour: { dateStyle: "medium", timeStyle: "short" },
    day: { dateStyle: "full" },
    week: { dateStyle: "full" },
    month: { month: "long", year: "numeric" },
  };
  const axis = new Intl.DateTimeFormat(undefined, { ...short[isDays ? "day" : unit], timeZone: zone });
  const point = new Intl.DateTimeFormat(undefined, { ...long[unit], timeZone: zone });
  return { axis: (at) => axis.format(at * 1000), point: (at) => point.format(at * 1000) };
}

function draw(figure) {
  const holder = figure.querySelector(".chart-canvas");
  const table = figure.querySelector("table[data-unit]");
  const readout = figure.querySelector(".chart-readout");
  let shown = readTable(table);
  let plot;
  figure.querySelector("[data-static]")?.remove();

  const label = labels(table.dataset, shown.starts);
  const read = (at) => {
    if (at === null || at === undefined) {
      const isEmpty = shown.counts.flat().every((count) => count === 0);
      readout.textContent = isEmpty ? readout.dataset.empty : "Point at the chart to read its numbers.";
      return;
    }
    const counts = shown.names.map((name, index) => `${name}: ${whole.format(shown.counts[index][at])}`);
    readout.textContent = `${label.point(shown.starts[at])} · ${counts.join(" · ")}`;
  };

  const make = () => {
    const { kinds, text, line } = colours(figure, shown.kinds);
    const axis = {
      stroke: text,
      grid: { stroke: line, width: 1 },
      ticks: { show: false },
      font: "12px system-ui",
    };
    const bars = uPlot.paths.bars({ size: [0.72, 56], radius: 0.12 });
    const layers = kinds.map((fill) => ({
      ...{ fill, stroke: fill, width: 0, paths: bars },
      points: { show: false },
    }));
    plot?.destroy();
    const drawing = document.createElement("div");
    plot = new uPlot(
      {
        width: holder.clientWidth,
        height: HEIGHT,
        series: [{}, ...layers.reverse()],
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: LABELS_HEIGHT,
            values: (_, splits) => splits.map(label.axis),
            splits: () => labelledStarts(shown.starts, label.axis, holder.clientWidth),
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
        legend: { show: false },
        hooks: { setCursor: [({ cursor }) => read(cursor.idx)] },
      },
      stacked(shown),
      drawing,
    );
    holder.replaceChildren(...drawing.childNodes);
    read();
  };

  make();
  new ResizeObserver(() => {
    if (plot.width !== holder.clientWidth) plot.setSize({ width: holder.clientWidth, height: HEIGHT });
  }).observe(holder);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", make);
  figure.addEventListener("counted", () => {
    shown = readTable(table);
    plot.setData(stacked(shown));
    read(plot.cursor.idx);
  });
}

/** The first point may be shorter than the others. */
function gap(starts) {
  return starts.length > 1 ? starts.at(-1) - starts.at(-2) : 3600;
}

/** As many labels as fit, from the last one on; of hours by their day, and of weeks by their month, the first alone. */
function labelledStarts(starts, nameOf, width) {
  const apart = ((starts.at(-1) - starts[0]) / width) * LABEL_WIDTH;
  const labelled = [];
  for (const [index, at] of [...starts.entries()].reverse()) {
    const isFirst = index === 0 || nameOf(at) !== nameOf(starts[index - 1]);
    if (isFirst && (labelled.length === 0 || labelled[0] - at >= apart)) labelled.unshift(at);
  }
  return labelled;
}

for (const figure of document.querySelectorAll("[data-chart]")) draw(figure);
