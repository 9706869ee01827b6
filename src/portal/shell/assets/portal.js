// Progressive enhancement: copy buttons, times in the visitor's time zone, colours, a box that chooses all of a list, how many
// are chosen, forms sent once.

/** After this time a form can be sent again, as its answer may have been given up by the browser's stop button. */
const SENDING_MS = 10_000;

const shortTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const timeWithSeconds = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const longTime = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/** Also called by live.js for parts that it gets again. */
export function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.textContent = ("seconds" in time.dataset ? timeWithSeconds : shortTime).format(at);
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
      announce("Copied");
      button.classList.add("copied");
      setTimeout(() => button.classList.remove("copied"), 1500);
    });
  }
}

/** Shows a short message, which screen readers announce (role status). */
function announce(text) {
  let box = document.querySelector(".tip");
  if (!box) {
    box = document.createElement("div");
    box.className = "tip";
    box.setAttribute("role", "status");
    document.body.append(box);
  }
  box.textContent = text;
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => {
    box.textContent = "";
  }, 1500);
}

/** Shows the box that chooses all rows of its form, or none. */
function chooseAll() {
  for (const box of document.querySelectorAll("input[data-choose]")) {
    box.closest("label").hidden = false;
    box.addEventListener("change", () => {
      for (const one of box.form.querySelectorAll(`[name="${box.dataset.choose}"]`))
        one.checked = box.checked;
    });
  }
}

/** Each button of a list says to how many links it does what. A box of all that fit has their number as its value. */
function countChosen() {
  for (const form of document.querySelectorAll("form[data-several]")) {
    const buttons = [...form.querySelectorAll("[data-verb]")].map((button) => [button, button.textContent]);
    const say = () => {
      const all = form.querySelector("[name=all]:checked");
      const chosen = all ? Number(all.value) : form.querySelectorAll("[name=link]:checked").length;
      const number = `${chosen.toLocaleString("en")} link${chosen === 1 ? "" : "s"}`;
      for (const [button, plain] of buttons)
        button.textContent = chosen > 0 ? `${button.dataset.verb} ${number}` : plain;
    };
    form.addEventListener("change", say);
    say();
  }
}

/** Where one tag is typed, or several apart by commas, those that there are come as suggestions. */
function suggestTags() {
  const list = document.createElement("datalist");
  list.id = "tag-names";
  // In the account of this page.
  const namesAddress = location.pathname.replace(/^(\/portal(?:\/[0-9a-f-]{36})?)\/.*/, "$1/tags/names");
  let names;
  const suggest = async ({ target: { name, value } }) => {
    names ??= fetch(namesAddress).then((answer) => (answer.ok ? answer.json() : []));
    const before = name === "tags" ? value.replace(/[^,]*$/, "") : "";
    const start = before === "" ? "" : `${before.trimEnd()} `;
    list.replaceChildren(...(await names).map((tag) => new Option("", start + tag)));
  };
  for (const input of document.querySelectorAll("input[name=tag]:not([type=hidden]), input[name=tags]")) {
    document.body.append(list);
    input.setAttribute("list", list.id);
    input.addEventListener("focus", suggest);
    input.addEventListener("input", suggest);
  }
}

/** A button pressed again before the answer has come would issue another key, and show only the second. */
function sendFormsOnce() {
  let sending;
  const forget = () => {
    sending = undefined;
  };
  document.addEventListener("submit", (event) => {
    // A download leaves the page as it is.
    if (event.submitter && "stays" in event.submitter.dataset) return;
    if (event.target === sending) return event.preventDefault();
    sending = event.target;
    setTimeout(forget, SENDING_MS);
  });
  addEventListener("pagehide", forget);
}

/** Filters act as they are chosen, dates when they are left, as each digit of a year makes one; the address has those that are set. */
function filterAtOnce() {
  const form = document.querySelector("form[data-at-once]");
  if (!form) return;
  form.querySelector("button").hidden = true;
  document.getElementById(sessionStorage.getItem("filter"))?.focus();
  sessionStorage.removeItem("filter");
  const send = ({ target }) => {
    sessionStorage.setItem("filter", target.id);
    form.requestSubmit();
  };
  form.addEventListener("change", (event) => {
    if (event.target.type === "date")
      event.target.addEventListener("blur", () => form.requestSubmit(), { once: true });
    else send(event);
  });
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}

/** On narrow screens the navigation scrolls: scrolls the current entry into view. */
function showCurrentEntry() {
  const nav = document.querySelector(".nav");
  const current = nav?.querySelector("[aria-current]");
  if (!current) return;
  const { left, width } = current.getBoundingClientRect();
  nav.scrollLeft += left + width / 2 - nav.clientWidth / 2;
}

/** Numbers are of the days of the browser's time zone, unless another was chosen; it is the first of the list. */
function tellOwnZone() {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is for https alone
  document.cookie = `linkledger-zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  for (const list of document.querySelectorAll("select[name=timezone]")) {
    const own = [...list.options].find(({ value }) => value === zone);
    const { value } = list;
    list.prepend(own ?? new Option(zone.replaceAll("_", " "), zone));
    list.value = value;
  }
}

/** Times that are labelled UTC are typed in the browser's time zone, whose name takes its place, and sent in UTC. */
function typeOwnTime(root) {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone === "UTC") return;
  const padded = (number) => String(number).padStart(2, "0");
  for (const input of root.querySelectorAll("input[type=datetime-local]")) {
    const [label] = input.labels;
    if (!label.textContent.includes("(UTC)")) continue;
    const sent = input.value;
    const at = new Date(`${sent}Z`);
    label.textContent = label.textContent.replace("(UTC)", `(${zone.replaceAll("_", " ")})`);
    if (sent !== "") {
      const day = [
        String(at.getFullYear()).padStart(4, "0"),
        padded(at.getMonth() + 1),
        padded(at.getDate()),
      ].join("-");
      input.value = `${day}T${padded(at.getHours())}:${padded(at.getMinutes())}${sent.slice(16)}`;
    }
    const shown = input.value;
    input.form.addEventListener("formdata", ({ formData }) => {
      // Another may have taken its place meanwhile.
      if (!input.isConnected) return;
      // One that was not touched is sent as it came, as an hour may come twice.
      if (input.value === shown) formData.set(input.name, sent);
      else if (input.value !== "") formData.set(input.name, new Date(input.value).toISOString().slice(0, -5));
    });
  }
}

/** Whoever picks a colour wants one. */
function pickColours() {
  for (const picker of document.querySelectorAll("input[type=color]"))
    picker.addEventListener("input", () => {
      const none = picker.form.querySelector("[type=checkbox][name=no_colour]");
      if (none) none.checked = false;
    });
}

/** How long nothing is typed before a form is shown as typed. */
const TYPED_MS = 350;

/**
 * Buttons with `data-part` are answered with the page on which the form is changed, and nothing is saved: the parts with
 * these ids take the place of ours. Typing asks for those in the form's `data-live`, as the button to show it would.
 */
function showAsTyped() {
  for (const form of document.querySelectorAll("form[data-live]")) {
    const shows = form.querySelector("[value=show]");
    let timer;
    let asking = new AbortController();
    const show = async (button, parts) => {
      clearTimeout(timer);
      asking.abort();
      asking = new AbortController();
      const sent = {
        method: "POST",
        headers: { accept: "text/html" },
        body: new URLSearchParams(new FormData(form, button)),
      };
      const answer = await fetch(button.formAction, { ...sent, signal: asking.signal }).catch(
        () => undefined,
      );
      const text = await answer?.text().catch(() => undefined);
      if (text === undefined || answer.redirected) return;
      const page = new DOMParser().parseFromString(text, "text/html");
      for (const id of parts.split(" ")) {
        const fresh = page.getElementById(id);
        if (!fresh) continue;
        document.getElementById(id)?.replaceWith(fresh);
        localTimes(fresh);
        typeOwnTime(fresh);
        slideNumbers(fresh);
        fresh.querySelector("[autofocus]")?.focus();
      }
    };
    shows.hidden = true;
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(show, TYPED_MS, shows, form.dataset.live);
    });
    form.addEventListener("submit", (event) => {
      const { part } = event.submitter?.dataset ?? {};
      if (part === undefined) return;
      event.preventDefault();
      show(event.submitter, part);
    });
  }
}

/** A slider beside an input for a number; as far as it goes stands for no number. */
function slideNumbers(root) {
  for (const slider of root.querySelectorAll("input[data-number]")) {
    const number = document.getElementById(slider.dataset.number);
    slider.hidden = false;
    slider.addEventListener("input", () => {
      number.value = slider.value === slider.max ? "" : slider.value;
    });
    number.addEventListener("input", () => {
      slider.value = number.value || slider.max;
    });
  }
}

/** The answer to a form may show a key once, or what was typed: it stays when its colours change. */
function changeColoursHere() {
  const form = document.querySelector("form[data-stays]");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { value: theme } = event.submitter;
    const body = new URLSearchParams(new FormData(form, event.submitter));
    const answer = await fetch(form.action, { method: "POST", body }).catch(() => undefined);
    if (!answer?.ok) return;
    document.documentElement.dataset.theme = theme;
    for (const button of form.querySelectorAll("button")) button.hidden = button.dataset.shown !== theme;
    form.querySelector("button:not([hidden])").focus();
  });
}

/** A key is shown once: the examples of /docs take it from here, within this tab. */
function keyForDocs() {
  const link = document.querySelector("a[data-docs-key]");
  link?.addEventListener("click", () => sessionStorage.setItem("linkledger-key", link.dataset.docsKey));
}

showCurrentEntry();
changeColoursHere();
keyForDocs();
tellOwnZone();
localTimes(document);
typeOwnTime(document);
pickColours();
copyButtons(document);
showAsTyped();
slideNumbers(document);
chooseAll();
countChosen();
suggestTags();
filterAtOnce();
sendFormsOnce();
