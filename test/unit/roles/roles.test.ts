// Parsing the list of roles.
import { describe, expect, it } from "vitest";
import { PROCESS_ROLES, rolesFrom } from "../../../src/service/roles/role.ts";

describe("the list of roles", () => {
  it("is comma separated, in any order, with spaces", () => {
    expect([...rolesFrom("api, redirect")]).toEqual(["api", "redirect"]);
    expect([...rolesFrom(PROCESS_ROLES.join(","))]).toEqual([...PROCESS_ROLES]);
  });

  it("is refused with the unknown role and the list of known ones", () => {
    expect(() => rolesFrom("api,redirects")).toThrow(
      'There is no role "redirects": use redirect, api, portal, projector, webhooks',
    );
  });

  it("must not be empty", () => {
    expect(() => rolesFrom(" , ")).toThrow(/At least one role/);
  });
});
