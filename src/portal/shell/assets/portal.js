// What scripts add to pages that work without them: copy buttons, and times in the visitor's own zone.

const shortTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const longTime = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/** Also for what is added to a page later: `localTimes(element)`. */
export function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.textContent = shortTime.format(at);
    time.title = longTime.format(at);
  }
}

function copyButtons(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      await navigator.clipboard.writeText(source?.textContent ?? "");
      say("Copied");
      button.classList.add("copied");
      setTimeout(() => button.classList.remove("copied"), 1500);
    });
  }
}

/** For screen readers too. */
function say(text) {
  let box = document.getElementById("said");
  if (!box) {
    box = document.createElement("div");
    box.id = "said";
    box.setAttribute("role", "status");
    document.body.append(box);
  }
  box.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => {
    box.textContent = "";
  }, 1500);
}

/** A question that was opened closes with Escape, and when the next one opens. */
function oneQuestionAtATime() {
  const others = (but) =>
    [...document.querySelectorAll("details.confirm[open]")].filter((one) => one !== but);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const open of others()) {
      open.open = false;
      open.querySelector("summary")?.focus();
    }
  });
  document.addEventListener("click", (event) => {
    const inside = event.target instanceof Element ? event.target.closest("details.confirm") : null;
    for (const open of others(inside)) open.open = false;
  });
}

/** On a phone the places are more than fit: the current one is brought into sight. */
function showCurrentPlace() {
  const nav = document.querySelector(".nav");
  const current = nav?.querySelector("[aria-current]");
  if (!current) return;
  const { left, width } = current.getBoundingClientRect();
  nav.scrollLeft += left + width / 2 - nav.clientWidth / 2;
}

showCurrentPlace();
localTimes(document);
copyButtons(document);
oneQuestionAtATime();
