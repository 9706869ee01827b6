// Shows the numbers of the point of a chart that is pointed at, from the table below it.

function read(figure, { clientX }) {
  const svg = figure.querySelector("svg");
  const { left, width } = svg.getBoundingClientRect();
  const before = Number(svg.dataset.left);
  const table = figure.querySelector("table");
  const { rows } = table.tBodies[0];
  const row = rows[Math.floor((((clientX - left) / width - before) / (1 - before)) * rows.length)];
  if (!row) return;
  const [start, ...counts] = [...row.cells].map(({ textContent }) => textContent);
  const names = [...table.tHead.rows[0].cells].map(({ textContent }) => textContent);
  // The last column is the sum.
  const shown = counts.slice(0, -1).map((count, index) => `${names[index + 1]}: ${count}`);
  figure.querySelector(".chart-readout").textContent = `${start} · ${shown.join(" · ")}`;
}

for (const kind of ["pointermove", "pointerdown"])
  document.addEventListener(kind, (event) => {
    const figure = event.target.closest(".chart-canvas")?.closest("figure");
    if (figure) read(figure, event);
  });

for (const note of document.querySelectorAll("[data-static]")) note.remove();
