// The category of a stream, by which readers of many streams choose.
/** The part of the name before its first `-`; the whole name when there is none. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf("-");
  return dash < 0 ? stream : stream.slice(0, dash);
}

/** Whether an event's stream is of one of the categories; quick where many events of a stream follow each other. */
export function inCategories(categories: readonly string[]): (event: { stream: string }) => boolean {
  let [last, isIn]: [string | undefined, boolean] = [undefined, false];
  return ({ stream }) => {
    if (stream !== last) [last, isIn] = [stream, categories.includes(categoryOf(stream))];
    return isIn;
  };
}
