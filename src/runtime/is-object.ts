// Tells an object of JSON from an array, null and single values, for readers of what others wrote.
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
