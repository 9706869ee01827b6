// Counts clicks by the hour in which they were recorded, and keeps where in the log these hours begin and end.
import type { Position } from "../../../stores/event-store/port.ts";
import { documentsById } from "../../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { type ClickHourDocument, clickHours, hourOf } from "../../definitions/click-hours.ts";

export class ClickHoursFold {
  readonly #readStore: Pick<ReadStore, "getMany">;
  /** Taken since the last commit. */
  #positions = new Map<string, Position[]>();

  constructor(readStore: Pick<ReadStore, "getMany">) {
    this.#readStore = readStore;
  }

  take(recordedAt: string, position: Position): void {
    const hour = hourOf(recordedAt);
    const positions = this.#positions.get(hour);
    if (positions) positions.push(position);
    else this.#positions.set(hour, [position]);
  }

  /** The documents that change. @throws what the read store throws */
  async fold(): Promise<ClickHourDocument[]> {
    const byHour = this.#positions;
    this.#positions = new Map();
    const hours = [...byHour.keys()];
    const stored = await documentsById<ClickHourDocument>(this.#readStore, clickHours.name, hours);
    return [...byHour].flatMap(([hour, positions]) => {
      const before = stored.get(hour);
      // After a crash the stored one may have some of them.
      const added = before ? positions.filter((position) => position > before._position) : positions;
      const [first, last] = [added[0], added.at(-1)];
      if (first === undefined || last === undefined) return [];
      const clicks = (before?.clicks ?? 0) + added.length;
      return [{ _id: hour, _position: last, hour, clicks, first: before?.first ?? first }];
    });
  }
}
