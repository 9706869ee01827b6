// Finds JSON values that are written one after the other, as pages of an API are when its answers go to one file.

/** A value, or why this part of the text is none. */
type JsonValue = { value: unknown } | { error: SyntaxError };

/**
 * Objects and lists may follow each other with nothing between them. What has its brackets closed and is no JSON
 * is one error, after which the next value is read; from a bracket that is never closed, the rest is one error.
 */
export function* jsonValues(text: string): Generator<JsonValue> {
  const whole = parsed(text.replace(/^\uFEFF/, ""));
  if ("value" in whole) {
    yield whole;
    return;
  }
  for (let start = 0; ; ) {
    while (/[\s\uFEFF]/.test(text[start] ?? "")) start += 1;
    if (start >= text.length) return;
    const end = endOfValue(text, start) ?? text.length;
    yield parsed(text.slice(start, end));
    start = end;
  }
}

/** Whether the text begins with a whole value. */
export function startsWithJson(text: string): boolean {
  const { value: first } = jsonValues(text).next();
  return first !== undefined && "value" in first;
}

function parsed(text: string): JsonValue {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: error as SyntaxError };
  }
}

/** After the bracket that closes the one at `start`; undefined where there is no such pair. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === "{" || char === "[") depth += 1;
    else if (depth === 0) return undefined;
    else if (char === '"') at = endOfString(text, at);
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Where the quote is that closes the one at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

/** Levels of a value: what walks it further calls itself. */
export const DEEPEST = 50;

export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
}
