// Shows the value of a point of a chart at the pointer, or at the keyboard's arrows; saves it as a picture; and keeps which
// breakdowns stand open in the address of the page and of its links.

const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -7, PageUp: 7 };

/** Without the titles that browsers show by themselves. */
function pointsOf(canvas) {
  const points = [...canvas.querySelectorAll(".point")];
  for (const point of points) {
    const title = point.querySelector("title");
    if (!title) continue;
    point.dataset.text = title.textContent;
    title.remove();
  }
  return points;
}

function show(canvas, points, index) {
  const readout = canvas.querySelector(".chart-readout");
  for (const [n, point] of points.entries()) point.classList.toggle("at", n === index);
  const point = points[index];
  readout.hidden = !point;
  if (!point) return;
  readout.textContent = point.dataset.text;
  canvas.dataset.at = index;
  canvas.setAttribute("aria-valuenow", index + 1);
  canvas.setAttribute("aria-valuemax", points.length);
  canvas.setAttribute("aria-valuetext", point.dataset.text);
  const frame = canvas.getBoundingClientRect();
  const column = point.querySelector(".column").getBoundingClientRect();
  const middle = column.left + column.width / 2 - frame.left - readout.offsetWidth / 2;
  readout.style.left = `${Math.max(0, Math.min(middle, frame.width - readout.offsetWidth))}px`;
}

/** Its arrows go from point to point, as those of a slider, whose value screen readers say. */
function readable(canvas) {
  const readout = document.createElement("p");
  readout.className = "chart-readout number";
  readout.hidden = true;
  canvas.append(readout);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "slider");
  canvas.setAttribute("aria-label", canvas.dataset.label);
  canvas.setAttribute("aria-valuemin", 1);
  const last = pointsOf(canvas).length - 1;
  show(canvas, pointsOf(canvas), last);
  const hide = () => show(canvas, pointsOf(canvas), -1);
  hide();
  const point = ({ target }) => {
    const points = pointsOf(canvas);
    show(canvas, points, points.indexOf(target.closest(".point")));
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("blur", hide);
  canvas.addEventListener("focus", () => show(canvas, pointsOf(canvas), Number(canvas.dataset.at)));
  canvas.addEventListener("keydown", (event) => {
    const points = pointsOf(canvas);
    const end = points.length - 1;
    const at = Number(canvas.dataset.at);
    const next = { Home: 0, End: end }[event.key] ?? at + (STEPS[event.key] ?? Number.NaN);
    if (Number.isNaN(next)) return;
    event.preventDefault();
    show(canvas, points, Math.max(0, Math.min(end, next)));
  });
}

function keepOpenInAddress({ target }) {
  if (!target.matches(".tabs > input")) return;
  const open = [...document.querySelectorAll(".tabs > input:checked")]
    .map(({ value }) => value)
    .filter(Boolean);
  const withOpen = (address) => {
    const url = new URL(address, location.href);
    url.searchParams.delete("open");
    for (const field of open) url.searchParams.append("open", field);
    return url;
  };
  history.replaceState(null, "", withOpen(location.href));
  // Attributes, as links of the map have no address as text.
  for (const link of document.querySelectorAll("main a[href]")) {
    const url = withOpen(link.getAttribute("href"));
    if (url.pathname === location.pathname) link.setAttribute("href", url);
  }
}

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "font", "display"];
const PIXELS = 2;

/** As it is seen, with its title: styles are not part of a drawing that is taken out of its page. */
async function savePicture(title) {
  const svg = document.querySelector(".chart-canvas svg");
  const { width, height } = svg.getBoundingClientRect();
  const copy = svg.cloneNode(true);
  const shown = svg.querySelectorAll("*");
  for (const [n, part] of copy.querySelectorAll("*").entries()) {
    const style = getComputedStyle(shown[n]);
    for (const name of DRAWN) part.style.setProperty(name, style.getPropertyValue(name));
  }
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const [margin, head] = [24, 56];
  canvas.width = (width + 2 * margin) * PIXELS;
  canvas.height = (height + head + margin) * PIXELS;
  const pen = canvas.getContext("2d");
  const page = getComputedStyle(svg.closest(".card"));
  pen.scale(PIXELS, PIXELS);
  pen.fillStyle = page.backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = page.color;
  pen.font = `600 16px ${page.fontFamily}`;
  pen.fillText(title, margin, 36);
  pen.drawImage(image, margin, head);
  const link = document.createElement("a");
  link.download = `${title}.png`;
  link.href = canvas.toDataURL("image/png");
  link.click();
}

for (const button of document.querySelectorAll("[data-png]")) {
  button.hidden = false;
  button.addEventListener("click", () => savePicture(button.dataset.png));
}
for (const canvas of document.querySelectorAll(".chart-canvas")) readable(canvas);
document.addEventListener("change", keepOpenInAddress);
