// The list of roles that a process is given.
import { describe, expect, it } from "vitest";
import { ROLES, rolesFrom } from "../../../src/roles/role.ts";

describe("the list of roles", () => {
  it("is comma separated, in any order, with spaces", () => {
    expect([...rolesFrom("api, redirect")]).toEqual(["api", "redirect"]);
    expect([...rolesFrom(ROLES.join(","))]).toEqual([...ROLES]);
  });

  it("names the role that is unknown, and those that there are", () => {
    expect(() => rolesFrom("api,redirects")).toThrow(
      'There is no role "redirects": use redirect, api, portal, projector, webhooks',
    );
  });

  it("must not be empty", () => {
    expect(() => rolesFrom(" , ")).toThrow(/At least one role/);
  });
});
