// linkledger person list | show | sign-in-link | operator | remove
import { Argument } from "commander";
import { Refused } from "../../commands/refusals.ts";
import { listPersons, personRow } from "../../queries/people.ts";
import { type CommandRow, required } from "../command.ts";
import { PERSON } from "../named.ts";
import { asQuery } from "../session.ts";

export const commands: readonly CommandRow[] = [
  {
    name: "list",
    about: "all who sign in, oldest first",
    by: asQuery,
    async run({ deps }) {
      return { persons: await listPersons(deps) };
    },
  },
  {
    name: "show <person>",
    about: "one person, and the accounts that they are a member of",
    args: { person: PERSON },
    by: asQuery,
    async run({ deps }, _: object, personId: string) {
      const person = await personRow(deps, personId);
      if (!person) throw new Refused("person_not_found");
      return person;
    },
  },
  {
    name: "sign-in-link <person>",
    about: "make a link that signs a person in, once, within ten minutes, whatever SIGN_IN says",
    args: { person: PERSON },
    async run({ deps, context, config }, _: object, personId: string) {
      const { issueSignInLink } = await import("../../commands/people/one-time-tokens.ts");
      const { path, expiresAt } = await issueSignInLink(deps, context, personId);
      return { person_id: personId, link: `${config.baseUrl}${path}`, expires_at: expiresAt };
    },
  },
  {
    name: "operator <person> <mark>",
    about: "let a person open the console /admin with their own session, or not any more",
    args: { person: PERSON, mark: new Argument("<mark>").choices(["on", "off"]) },
    async run({ deps, context }, _: object, personId: string, mark: "on" | "off") {
      const { changeOperator } = await import("../../commands/people/change-person.ts");
      await changeOperator(deps, context, personId, mark === "on");
      return { person_id: personId, is_operator: mark === "on" };
    },
  },
  {
    name: "remove <person>",
    about:
      "destroy what names a person, for good: address, name, ways to sign in and sessions; memberships end",
    args: { person: PERSON },
    options: [required("--yes", "I know that this can't be undone")],
    async run({ deps, context }, _: object, personId: string) {
      const { removePersonEverywhere } = await import("../../commands/account/change-members.ts");
      const { accounts } = await removePersonEverywhere(deps, context, personId);
      return { person_id: personId, status: "removed", left_accounts: accounts };
    },
  },
];
