// The category of a stream, by which readers of many streams choose.
/** The part of the name before its first `-`; the whole name when there is none. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf("-");
  return dash < 0 ? stream : stream.slice(0, dash);
}
