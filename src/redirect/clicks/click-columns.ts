// Collects the clicks of one stream in columns, so that a batch goes to the log without an object for each event.

import { collapsed } from "../../event-store/event-columns.ts";
import type { ColumnGroup, EventColumns } from "../../event-store/port.ts";
import { catalogue } from "../../events/catalogue.ts";
import { membersOf } from "../../events/new-event.ts";
import { type ClickParts, type EnrichedHit, PARTS } from "./click-event.ts";

type Codes = { visitor: string; accountVisitor: string };

const TYPE = "LinkClicked";
const MEMBERS = membersOf(TYPE);
const OWN = ["ip", "visitor", "accountVisitor"] as const;

export class ClickColumns {
  readonly #writer: string;
  readonly #times = new Differences();
  readonly #numbers = new Differences();
  readonly #parts = (Object.keys(PARTS) as (keyof ClickParts)[]).map((name) => ({
    name,
    rows: new Rows(PARTS[name]),
  }));
  readonly #own: [ips: string[], visitors: string[], accountVisitors: string[]] = [[], [], []];

  /** `writer`: as in EventColumns. */
  constructor(writer: string) {
    this.#writer = writer;
  }

  get count(): number {
    return this.#times.values.length;
  }

  /** `number`: the hit's number among all of the writer, greater than the one before. */
  add(at: number, number: number, hit: EnrichedHit, { visitor, accountVisitor }: Codes): void {
    this.#times.add(at);
    this.#numbers.add(number);
    for (const { name, rows } of this.#parts) rows.add(hit[name]);
    const [ips, visitors, accountVisitors] = this.#own;
    ips.push(hit.ip);
    visitors.push(visitor);
    accountVisitors.push(accountVisitor);
  }

  columns(): EventColumns {
    return {
      type: TYPE,
      schemaVersion: catalogue[TYPE].version,
      actor: { type: "system", id: "redirect" },
      writer: this.#writer,
      times: this.#times.values,
      numbers: this.#numbers.values,
      members: MEMBERS,
      timeMember: "at",
      groups: [...this.#parts.map(({ rows }) => rows.group()), { members: OWN, values: this.#own }],
    };
  }
}

/** A list of numbers as EventColumns encodes it. */
class Differences {
  readonly values: number[] = [];
  #last = 0;

  add(value: number): void {
    this.values.push(value - this.#last);
    this.#last = value;
  }
}

/** Distinct objects and the index of each event's; equal objects that are not the same one take a row each. */
class Rows {
  readonly #members: readonly string[];
  readonly #numbers = new Map<object, number>();
  readonly #each: number[] = [];

  constructor(members: readonly string[]) {
    this.#members = members;
  }

  add(row: object): void {
    let number = this.#numbers.get(row);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(row, number);
    }
    this.#each.push(number);
  }

  group(): ColumnGroup {
    const rows = [...this.#numbers.keys()] as Record<string, unknown>[];
    const values = this.#members.map((member) => collapsed(rows.map((row) => row[member])));
    const isOneEach = rows.length === 1 || rows.length === this.#each.length;
    return { members: this.#members, values, ...(!isOneEach && { each: this.#each }) };
  }
}
