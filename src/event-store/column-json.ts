// Writes the data of events in columns as JSON, with the text of a repeated row written once for all events that share it.
import { cellOf, rowOf, timesOf } from "./event-columns.ts";
import { isoTexts } from "./iso-texts.ts";
import type { ColumnGroup, EventColumns } from "./port.ts";

/** Members next to each other that are found in one row. */
type Run = { group: ColumnGroup; names: string[]; columns: unknown[][]; texts: (string | undefined)[] };

/** Of each event the same text as `JSON.stringify` makes of its data. */
export function jsonOfColumns(columns: EventColumns): string[] {
  const parts = partsOf(columns);
  const isoText = isoTexts();
  return timesOf(columns).map((at, n) => {
    const time = isoText(at);
    let text = "";
    for (const part of parts) {
      const members = part === "time" ? `${JSON.stringify(columns.timeMember)}:"${time}"` : textOf(part, n);
      text += text === "" ? members : `,${members}`;
    }
    return `{${text}}`;
  });
}

/** In the order of the members. */
function partsOf({ members, timeMember, groups }: EventColumns): (Run | "time")[] {
  const parts: (Run | "time")[] = [];
  for (const name of members) {
    if (name === timeMember) {
      parts.push("time");
      continue;
    }
    const group = groups.find((one) => one.members.includes(name));
    if (!group) throw new RangeError(`No group of the columns has the member ${name}`);
    const column = group.values[group.members.indexOf(name)] as unknown[];
    const last = parts.at(-1);
    if (last === undefined || last === "time" || last.group !== group)
      parts.push({ group, names: [name], columns: [column], texts: [] });
    else {
      last.names.push(name);
      last.columns.push(column);
    }
  }
  return parts;
}

function textOf({ group, names, columns, texts }: Run, n: number): string {
  const row = rowOf(group, n);
  texts[row] ??= names
    .map((name, m) => `${JSON.stringify(name)}:${JSON.stringify(cellOf(columns[m] as unknown[], row))}`)
    .join(",");
  return texts[row];
}
