// Forms that a passkey answers: asks the service for a challenge and the browser for its answer, which the form sends.
import "./webauthn.js";

const { browserSupportsWebAuthn, startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const button = form.querySelector("button");
  const error = form.querySelector("[role=alert]");
  const say = (text) => {
    error.hidden = text === "";
    error.textContent = text;
  };
  form.hidden = false;
  if (!browserSupportsWebAuthn()) {
    button.disabled = true;
    say(
      isSecureContext
        ? "This browser has no passkeys: use a newer one."
        : "Passkeys work over https only: open this page by its https address.",
    );
    continue;
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    event.stopPropagation();
    button.disabled = true;
    say("");
    try {
      const { flow, options } = await begin(form);
      const start = "user" in options ? startRegistration : startAuthentication;
      form.elements.flow.value = flow;
      form.elements.response.value = JSON.stringify(await start({ optionsJSON: options }));
      form.submit();
    } catch (failure) {
      say(whatToDo(failure));
      button.disabled = false;
    }
  });
}

async function begin(form) {
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(form.dataset.passkey, {
    method: "POST",
    headers: { accept: "application/json" },
    body,
  });
  const json = await answer.json().catch(() => ({ error: "You are signed out: reload the page." }));
  if (!answer.ok || json.error) throw new Error(json.error);
  return json;
}

function whatToDo(failure) {
  const name = failure.cause?.name ?? failure.name;
  if (name === "NotAllowedError")
    return "Nothing came of it: it was cancelled, took too long, or there is no passkey of this site here.";
  if (name === "InvalidStateError") return "There is a passkey of yours on this device already.";
  if (name === "SecurityError") return "This browser makes no passkeys for this address of the service.";
  if (name === "TypeError") return "The service does not answer: try again.";
  return failure.message;
}

// What was removed or renamed here is to be so where passkeys are kept, in browsers that can be told.
const known = document.querySelector("[data-passkeys]");
if (known) {
  const { rpId, userId, name, credentialIds } = JSON.parse(known.dataset.passkeys);
  const tell = (signal, about) =>
    globalThis.PublicKeyCredential?.[signal]?.({ rpId, userId, ...about }).catch(() => undefined);
  tell("signalAllAcceptedCredentials", { allAcceptedCredentialIds: credentialIds });
  tell("signalCurrentUserDetails", { name, displayName: name });
}
