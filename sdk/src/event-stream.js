// Reads server-sent events (WHATWG HTML, 9.2) from the body of an answer, wherever there is fetch.

/**
 * Ends with the body. `silentMs`: a connection that says nothing for so long is taken for broken.
 * @throws what reading throws; a TimeoutError for silence
 */
export async function* messagesOf(body, silentMs) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await withinMs(reader.read(), silentMs);
      if (done) return;
      text += decoder.decode(value, { stream: true });
      // A carriage return at the end may be half of a line's end.
      const blocks = text.split(/\r\n\r\n|\n\n|\r\r(?!$)/);
      text = blocks.pop() ?? "";
      for (const block of blocks) yield messageOf(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function messageOf(block) {
  const message = { event: "message", id: undefined, data: "", retryMs: undefined };
  const data = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "event") message.event = value;
    else if (name === "id") message.id = value;
    else if (name === "data") data.push(value);
    else if (name === "retry" && /^\d+$/.test(value)) message.retryMs = Number(value);
  }
  return { ...message, data: data.join("\n") };
}

function withinMs(reading, ms) {
  return new Promise((resolve, reject) => {
    const late = () => reject(new DOMException("The event stream fell silent", "TimeoutError"));
    const timer = setTimeout(late, ms);
    reading.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
