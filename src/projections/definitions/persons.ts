// Who signs in, and the accounts that they are members of, with the role in each.
import type { Role } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: personId. `accounts`: by account id, closed ones too. Times: ISO 8601 UTC; `removedAt`: "" while there is one. */
export type PersonDocument = Document & {
  registeredAt: string;
  removedAt: string;
  accounts: Record<string, Role>;
  isOperator: boolean;
};

export const persons: Projection<PersonDocument> = {
  name: "persons",
  collection: { name: "persons", indexes: [["registeredAt"]] },
  handles: [
    "AccountOpened",
    "PersonRegistered",
    "MemberJoined",
    "MemberRoleChanged",
    "MemberRemoved",
    "OperatorMarked",
    "OperatorUnmarked",
    "PersonRemoved",
  ],
  key(event) {
    if (event.type === "AccountOpened") return event.data.ownerId ?? event.data.accountId;
    return "personId" in event.data ? event.data.personId : undefined;
  },
  empty: ({ data }) => ({ registeredAt: data.at, removedAt: "", accounts: {}, isOperator: false }),
  evolve(person, event) {
    switch (event.type) {
      case "AccountOpened":
        person.accounts[event.data.accountId] = "owner";
        return person;
      case "MemberJoined":
        person.accounts[event.data.accountId] = event.data.role;
        return person;
      case "MemberRoleChanged":
        person.accounts[event.data.accountId] = event.data.to;
        return person;
      case "MemberRemoved":
        delete person.accounts[event.data.accountId];
        return person;
      case "OperatorMarked":
      case "OperatorUnmarked":
        return { ...person, isOperator: event.type === "OperatorMarked" };
      case "PersonRemoved":
        return { ...person, removedAt: event.data.at, isOperator: false };
      default:
        return person;
    }
  },
};
