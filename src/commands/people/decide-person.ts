// Decider of a person: who signs in, whatever accounts they are a member of. Pure. Who opened an account has no event of
// their own before they change something: they are a person by AccountOpened.
import type { PersonEvent } from "../../events/catalogue.ts";
import { Refused } from "../refusals.ts";

export type PersonState = { status: "unregistered" | "registered" | "removed"; isOperator: boolean };

export const newPerson: PersonState = { status: "unregistered", isOperator: false };

/** An event of a person who is not removed. */
export type PersonAct = Exclude<PersonEvent, { type: "PersonRegistered" | "PersonRemoved" }>;

/** @throws person_exists */
export function register(person: PersonState, c: { personId: string; at: string }): PersonEvent[] {
  if (person.status !== "unregistered") throw new Refused("person_exists");
  return [{ type: "PersonRegistered", data: c }];
}

/** @throws person_not_found once removed */
export function did(person: PersonState, event: PersonAct): PersonEvent[] {
  if (person.status === "removed") throw new Refused("person_not_found");
  return [event];
}

/** `isOperator`: of this service, whatever they are in an account. @throws person_not_found once removed */
export function markOperator(
  person: PersonState,
  c: { personId: string; at: string },
  isOperator: boolean,
): PersonEvent[] {
  const type = isOperator ? "OperatorMarked" : "OperatorUnmarked";
  return person.isOperator === isOperator ? [] : did(person, { type, data: c });
}

/** Idempotent. */
export function remove(person: PersonState, c: { personId: string; at: string }): PersonEvent[] {
  return person.status === "removed" ? [] : [{ type: "PersonRemoved", data: c }];
}

export function evolve(person: PersonState, event: PersonEvent): PersonState {
  switch (event.type) {
    case "PersonRegistered":
      return { ...person, status: "registered" };
    case "OperatorMarked":
      return { ...person, isOperator: true };
    case "OperatorUnmarked":
      return { ...person, isOperator: false };
    case "PersonRemoved":
      return { status: "removed", isOperator: false };
    default:
      return person;
  }
}
