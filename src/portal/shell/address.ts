// Builds the address of a page with its query string.
type Value = string | number | null | undefined;

/** A path with those of the values that are given; a list has its name once for each of its values. */
export function address(path: string, query: Readonly<Record<string, Value | readonly Value[]>>): string {
  const parameters = Object.entries(query)
    .flatMap(([name, values]) => [values].flat().map((value): [string, Value] => [name, value as Value]))
    .filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(
    parameters.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text === "" ? path : `${path}?${text}`;
}
