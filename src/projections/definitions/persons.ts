// Who signs in, and the accounts that they are members of, with the role in each.
import type { Role } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** What happened to how somebody signs in, or to what they may do. `accountId`, `role`: of a membership. */
export type News = {
  type: "MemberRoleChanged" | "MemberRemoved" | "PasswordChanged" | "PasskeyAdded" | "IdentityLinked";
  at: string;
  accountId?: string;
  role?: Role;
};

/** As many as a page can show. */
const MOST_NEWS = 5;

/**
 * `_id`: personId. `accounts`: by account id, closed ones too. `news`: the newest, oldest first. Times: ISO 8601 UTC;
 * `removedAt`: "" while there is one.
 */
export type PersonDocument = Document & {
  registeredAt: string;
  removedAt: string;
  accounts: Record<string, Role>;
  news: News[];
  isOperator: boolean;
};

const HANDLED = [
  "AccountOpened",
  "PersonRegistered",
  "MemberJoined",
  "MemberRoleChanged",
  "MemberRemoved",
  "PasswordChanged",
  "PasskeyAdded",
  "IdentityLinked",
  "OperatorMarked",
  "OperatorUnmarked",
  "PersonRemoved",
] as const;

export const persons: Projection<PersonDocument, (typeof HANDLED)[number]> = {
  collection: { name: "persons", indexes: [["registeredAt"]] },
  handles: HANDLED,
  key(event) {
    if (event.type === "AccountOpened") return event.data.ownerId ?? event.data.accountId;
    return event.data.personId;
  },
  empty: ({ data }) => ({ registeredAt: data.at, removedAt: "", accounts: {}, isOperator: false, news: [] }),
  evolve(person, event) {
    switch (event.type) {
      case "AccountOpened":
        person.accounts[event.data.accountId] = "owner";
        return person;
      case "MemberJoined":
        person.accounts[event.data.accountId] = event.data.role;
        return person;
      case "MemberRoleChanged": {
        const { accountId, to: role, at } = event.data;
        person.accounts[accountId] = role;
        return withNews(person, { type: event.type, at, accountId, role });
      }
      case "MemberRemoved": {
        const { accountId, at } = event.data;
        delete person.accounts[accountId];
        return withNews(person, { type: event.type, at, accountId });
      }
      case "IdentityLinked":
        if (event.data.how === "first") return person;
        return withNews(person, { type: event.type, at: event.data.at });
      case "PasskeyAdded":
      case "PasswordChanged":
        return withNews(person, { type: event.type, at: event.data.at });
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

function withNews<Person extends Pick<PersonDocument, "news">>(person: Person, news: News): Person {
  return { ...person, news: [...person.news, news].slice(-MOST_NEWS) };
}
