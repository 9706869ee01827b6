// What /docs does with a script: searches as one types, copies, keeps the language, and fills in one's own key, which stays
// in this tab.

const LANGUAGE = "linkledger-docs-language";
const KEY = "linkledger-key";

keepLanguage();
copyButtons(document);
ownKey(document);
searchAsTyped();

function keepLanguage() {
  const chosen = localStorage.getItem(LANGUAGE);
  for (const input of document.querySelectorAll(".languages input")) {
    if (input.value === chosen) input.checked = true;
    input.addEventListener("change", () => localStorage.setItem(LANGUAGE, input.value));
  }
}

function copyButtons(root) {
  for (const code of root.querySelectorAll("figure > pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard?.writeText(code.textContent);
      button.textContent = navigator.clipboard ? "Copied" : "Can't copy here";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2_000);
    });
    code.after(button);
  }
}

/** Of the shell the place is a variable within quotes; of the others an expression. */
function fillIn(key) {
  for (const place of document.querySelectorAll(".key-place")) {
    place.dataset.name ??= place.textContent;
    const { name } = place.dataset;
    place.textContent = key === "" ? name : name === "$KEY" ? key : JSON.stringify(key);
  }
}

function ownKey(root) {
  const key = sessionStorage.getItem(KEY) ?? "";
  fillIn(key);
  const form = root.querySelector(".own-key");
  if (!form) return;
  const input = form.querySelector("input");
  input.value = key;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = input.value.trim();
    if (typed === "") sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, typed);
    fillIn(typed);
  });
}

/** The page comes back as soon as nothing is typed any more. */
function searchAsTyped() {
  const field = document.querySelector("input[type=search]");
  const main = document.querySelector("main");
  const page = [...main.childNodes];
  let last;
  field.addEventListener("input", async () => {
    const query = field.value.trim();
    last = query;
    if (query === "") return main.replaceChildren(...page);
    const answer = await fetch(`/docs/search?${new URLSearchParams({ q: query })}`).catch(() => undefined);
    if (!answer?.ok || last !== query) return;
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    main.replaceChildren(...found.childNodes);
  });
}
