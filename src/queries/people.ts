// Who is a member of which account: for sessions, lists of members, and the names of those who did something.
import type { Member, OpenAccount } from "../commands/account/account.ts";
import { loadAccount } from "../commands/account/account-stream.ts";
import { nameOfAccount, ownerAddress } from "../commands/account/change-members.ts";
import { openInvitations } from "../commands/account/decide-member.ts";
import { invitedAddress } from "../commands/account/invitations.ts";
import { isEmailProven, personWithEmail } from "../commands/people/email.ts";
import type { AccountsOf } from "../commands/people/person-stream.ts";
import { emailSecret, nameSecret, normalEmail, sessionSecret } from "../commands/people/secrets.ts";
import { readableEvent } from "../events/read-event.ts";
import { CATEGORY } from "../events/streams.ts";
import { orNotBuilt } from "../projections/builds/errors.ts";
import { type AccountDocument, accounts } from "../projections/definitions/accounts.ts";
import { type BrandDocument, brands } from "../projections/definitions/brands.ts";
import { actorKey } from "../projections/definitions/event-index.ts";
import { type News, type PersonDocument, persons } from "../projections/definitions/persons.ts";
import { lifecycle } from "../projections/groups.ts";
import { logPages } from "../stores/event-store/log-pages.ts";
import { type Actor, type EventStore, START } from "../stores/event-store/port.ts";
import { allDocuments } from "../stores/read-store/document-pages.ts";
import type { ReadStore } from "../stores/read-store/port.ts";
import type { Secrets } from "../stores/secrets/port.ts";
import { readPage } from "./cursor.ts";

type Deps = { readStore: ReadStore; eventStore: EventStore };
export type NameDeps = { secrets: Secrets; clock: () => Date };
type NamedDeps = Pick<Deps, "readStore"> & NameDeps;

/** Events read at a time. */
const PAGE = 1_000;

/** What somebody is called once what names them is destroyed. */
export const FORMER_MEMBER = "a former member";

/** Who signs in at a provider that names neither an address nor them. */
const UNNAMED = "somebody without an address";

/**
 * Ids of the open accounts that the person is a member of, the one that they opened first. The document says which to look at,
 * the accounts' streams say whether it is so. While there is no document yet it is that one alone, unless all are asked for:
 * then the log is read as far as the documents are behind it, too.
 */
export function accountsOf({ readStore, eventStore }: Deps): AccountsOf {
  return async (personId, which) => {
    // First, so that what a fold adds in between is in both.
    const since = which === "all" ? await joinedSinceDocuments({ readStore, eventStore }, personId) : [];
    const reading = personOf({ readStore }, personId);
    const person = await (which === "all" ? reading : orNotBuilt(reading));
    // Who opened an account is not in the documents yet.
    const ids = new Set([personId, ...Object.keys(person?.accounts ?? {}), ...since]);
    const candidates = await Promise.all(
      [...ids].map(async (accountId) => ({ accountId, account: await loadAccount(eventStore, accountId) })),
    );
    return candidates.flatMap(({ accountId, account }) =>
      account.status === "open" && account.members.has(personId) ? [accountId] : [],
    );
  };
}

function personOf({ readStore }: Pick<Deps, "readStore">, personId: string) {
  return readStore.get<PersonDocument>(persons.collection.name, personId);
}

/** Ids of accounts that the person has joined or opened since the events that are in the documents. */
async function joinedSinceDocuments({ readStore, eventStore }: Deps, personId: string): Promise<string[]> {
  const after = (await readStore.checkpoint(lifecycle.name))?.position ?? START;
  const accountIds: string[] = [];
  for await (const { events } of logPages(eventStore, { after, categories: [CATEGORY.account], limit: PAGE }))
    for (const recorded of events) {
      const event = readableEvent(recorded);
      if (event?.type === "MemberJoined" && event.data.personId === personId)
        accountIds.push(event.data.accountId);
      if (event?.type === "AccountOpened" && event.data.ownerId === personId)
        accountIds.push(event.data.accountId);
    }
  return accountIds;
}

/** `name`: as they are called, by default their address. Both undefined for who was removed. */
export async function nameOf(
  { secrets, clock }: NameDeps,
  personId: string,
): Promise<{ email: string | undefined; name: string | undefined }> {
  const [email, name] = await Promise.all(
    [emailSecret, nameSecret].map((secret) => secrets.get(secret(personId), clock())),
  );
  if (typeof email !== "string") return { email: undefined, name: undefined };
  return { email, name: typeof name === "string" ? name : email || UNNAMED };
}

/** The address of who has owned the account for the longest; null where they have none, and once it is closed. */
export async function ownerEmail(
  { readStore, ...deps }: NamedDeps,
  accountId: string,
): Promise<string | null> {
  return (await ownerAddress(deps, await membersOf(readStore, accountId))) ?? null;
}

/** By person id, as the documents say; while there is none, who opened it; nobody once the account is closed. */
async function membersOf(readStore: ReadStore, accountId: string): Promise<[string, Member][]> {
  const account = await orNotBuilt(readStore.get<AccountDocument>(accounts.collection.name, accountId));
  if (account === undefined) return [[accountId, { role: "owner", joinedAt: "" }]];
  return account.status === "open" ? Object.entries(account.members) : [];
}

export type MemberRow = Awaited<ReturnType<typeof memberRows>>["members"][number];
export type InvitationRow = Awaited<ReturnType<typeof memberRows>>["invitations"][number];

/** Members by the time at which they joined, and invitations that can be accepted, as of the account that is given. */
export async function memberRows(deps: NameDeps, account: OpenAccount) {
  const members = [...account.members].map(async ([personId, { role, joinedAt }]) => {
    const { email, name } = await nameOf(deps, personId);
    return {
      person_id: personId,
      email: email || null,
      name: name ?? FORMER_MEMBER,
      role,
      joined_at: joinedAt,
    };
  });
  const open = openInvitations(account, deps.clock().toISOString());
  const invitations = open.map(async ([invitationId, { role, expiresAt, invitedBy, at }]) => ({
    invitation_id: invitationId,
    email: (await invitedAddress(deps, invitationId)) ?? null,
    role,
    invited_at: at,
    expires_at: expiresAt,
    invited_by: invitedBy ?? null,
  }));
  return { members: await Promise.all(members), invitations: await Promise.all(invitations) };
}

/** What members call the account, as the documents say. */
export async function accountName({ readStore, ...deps }: NamedDeps, accountId: string): Promise<string> {
  const brand = await orNotBuilt(readStore.get<BrandDocument>(brands.collection.name, accountId));
  const members = await membersOf(readStore, accountId);
  return await nameOfAccount(deps, { accountId, brand: brand ?? {}, members });
}

/** In a menu. */
const MOST_NAMED = 20;

export type NamedAccount = { accountId: string; name: string };

/** Open accounts of somebody who is a member of several, by name, as the documents say; else none. */
export async function accountsToSwitch(deps: NamedDeps, personId: string): Promise<NamedAccount[]> {
  const person = await orNotBuilt(personOf(deps, personId));
  const ids = Object.keys(person?.accounts ?? {});
  if (ids.length < 2) return [];
  const documents = await orNotBuilt(
    deps.readStore.getMany<AccountDocument>(accounts.collection.name, ids.slice(0, MOST_NAMED)),
  );
  const open = (documents ?? []).filter(({ status }) => status === "open");
  const named = open.map(async ({ _id }) => ({ accountId: _id, name: await accountName(deps, _id) }));
  return (await Promise.all(named)).sort((a, b) => a.name.localeCompare(b.name));
}

/** How long somebody is told of it on the dashboard. */
const NEWS_DAYS = 7;

/** What is new for somebody since then, ISO 8601 UTC, newest first, with what the accounts are called. */
export async function newsOf(
  deps: NamedDeps,
  personId: string,
  since: string,
): Promise<(News & { account: string | undefined })[]> {
  const person = await orNotBuilt(personOf(deps, personId));
  const first = new Date(deps.clock().getTime() - NEWS_DAYS * 86_400_000).toISOString();
  const news = (person?.news ?? []).filter(({ at }) => at > since && at > first).reverse();
  return await Promise.all(
    news.map(async (item) => ({
      ...item,
      account: item.accountId === undefined ? undefined : await accountName(deps, item.accountId),
    })),
  );
}

/** The id of the person with this address or id. */
export async function findPerson(deps: NamedDeps, named: string): Promise<string | undefined> {
  const text = named.trim();
  const personId = text.includes("@") ? (await personWithEmail(deps, text))?.personId : text.toLowerCase();
  const isKnown =
    personId !== undefined &&
    ((await nameOf(deps, personId)).email !== undefined || (await personOf(deps, personId)) !== undefined);
  return isKnown ? personId : undefined;
}

/** Who signs in, removed ones too, oldest first. */
export async function listPersons(deps: NamedDeps) {
  const sort = { field: "registeredAt", direction: "asc" } as const;
  const all = await allDocuments<PersonDocument>(deps.readStore, persons.collection.name, {
    sort,
    limit: 500,
  });
  return await Promise.all(all.map((person) => rowOf(deps, person)));
}

/** Newest first; with `find` those of whose address or name it is a part, or whose id it is. @throws invalid_cursor */
export async function peoplePage(
  deps: NamedDeps,
  { find, limit, cursor }: { find?: string | undefined; limit: number; cursor?: string | undefined },
): Promise<{ people: PersonRow[]; next: string | null }> {
  const ids = find === undefined ? undefined : await personsNamed(deps, find);
  const query = {
    ...(ids && { in: { _id: ids } }),
    sort: { field: "registeredAt", direction: "desc" },
  } as const;
  const request = { after: cursor, limit };
  const { name } = persons.collection;
  const { page, next } = await readPage<PersonDocument>(deps.readStore, name, query, request);
  return { people: await Promise.all(page.map((person) => rowOf(deps, person))), next };
}

/** What names people is nowhere indexed: it is sealed. */
async function personsNamed({ secrets, clock }: NameDeps, find: string): Promise<string[]> {
  const part = normalEmail(find);
  const named = await Promise.all([emailSecret, nameSecret].map((of) => secrets.list(of(""), clock())));
  const matching = named.flat().filter(({ value }) => normalEmail(String(value)).includes(part));
  return [...new Set([part, ...matching.map(({ key }) => key.split("/").at(-1) ?? "")])];
}

export async function personRow(deps: NamedDeps, personId: string) {
  const person = await personOf(deps, personId);
  return person && (await rowOf(deps, person));
}

export type PersonRow = Awaited<ReturnType<typeof rowOf>>;

async function rowOf(deps: NamedDeps, { _id, ...person }: PersonDocument) {
  const [{ email, name }, isProven, signedIn] = await Promise.all([
    nameOf(deps, _id),
    isEmailProven(deps, _id),
    lastSignIn(deps, _id),
  ]);
  return {
    person_id: _id,
    email: email || null,
    email_proven: isProven,
    name: name ?? FORMER_MEMBER,
    registered_at: person.registeredAt,
    removed_at: person.removedAt || null,
    is_operator: person.isOperator,
    last_sign_in: signedIn,
    accounts: await Promise.all(
      Object.entries(person.accounts).map(async ([accountId, role]) => ({
        account_id: accountId,
        account: await accountName(deps, accountId),
        role,
      })),
    ),
  };
}

/** Of the sessions that are not over, the newest. */
export async function lastSignIn({ secrets, clock }: NameDeps, personId: string) {
  const sessions = await secrets.list(sessionSecret(personId, ""), clock());
  const begun = sessions.map(({ value }) => value as { createdAt: string; way: string });
  const last = begun.sort((a, b) => a.createdAt.localeCompare(b.createdAt)).at(-1);
  return last ? { at: last.createdAt, way: last.way } : null;
}

/** What people are called, by their ids. */
export async function namesOf(deps: NameDeps, ids: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  const named = [...new Set(ids)].map(
    async (id) => [id, (await nameOf(deps, id)).name ?? FORMER_MEMBER] as const,
  );
  return new Map(await Promise.all(named));
}

/** What people are called in sentences about what they did, by their ids. `reader`: who reads it, as “you”. */
export async function peopleInSentences(
  deps: NameDeps,
  ids: Iterable<string>,
  reader?: string,
): Promise<ReadonlyMap<string, string>> {
  const names = await namesOf(deps, ids);
  return reader !== undefined && names.has(reader) ? new Map([...names, [reader, "you"]]) : names;
}

/** Of what people did, their ids. */
export function peopleOf(actors: readonly Actor[]): string[] {
  return actors.flatMap((actor) => (actor.type === "person" ? actor.id : []));
}

/** Rows with what the person is called that did it, as the operator too; null where nobody is named. */
export async function withActorNames<Row extends { actor: Actor | string }>(
  deps: NameDeps,
  rows: readonly Row[],
): Promise<(Row & { actor_name: string | null })[]> {
  const personIn = (actor: Actor | string) =>
    /^(?:person|operator):(.+)$/.exec(typeof actor === "string" ? actor : actorKey(actor))?.[1] ?? "";
  const names = await namesOf(deps, rows.map(({ actor }) => personIn(actor)).filter(Boolean));
  return rows.map((row) => ({ ...row, actor_name: names.get(personIn(row.actor)) ?? null }));
}
