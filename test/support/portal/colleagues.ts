// Colleagues in tests of the portal without a mail server: invited by a link that the page shows, and accepted with a password.
import { expect } from "vitest";
import type { Role } from "../../../src/events/vocabulary.ts";
import { decoded, PASSWORD, type Visitor } from "./browser-like.ts";

/** The path of the link that the page shows. */
export async function invite(by: Visitor, email: string, role: Role): Promise<string> {
  const { status, text } = await by.submit("/portal/members", { email, role });
  expect(status).toBe(200);
  const [path = ""] = /\/portal\/invitation\?id=[^<"]+/.exec(decoded(text).replaceAll("&amp;", "&")) ?? [];
  return path;
}

/** The fields of the invitation's form. */
export const partsOf = (path: string) => Object.fromEntries(new URLSearchParams(path.split("?")[1]));

/** As somebody new; the person's id. */
export async function join(by: Visitor, newcomer: Visitor, email: string, role: Role): Promise<string> {
  const path = await invite(by, email, role);
  const fields = { ...partsOf(path), password: PASSWORD };
  const landed = await newcomer.submit(path, fields, "/portal/invitation");
  expect([landed.status, landed.text]).toEqual([200, expect.stringContaining("you are a member now")]);
  return personIn(newcomer);
}

/** The id of who is signed in. */
export const personIn = ({ cookies }: Visitor) =>
  (cookies.get("linkledger-session") ?? "").split(".")[0] ?? "";
