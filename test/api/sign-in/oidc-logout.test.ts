// Signing out on both sides: here and there by the person, and here by the provider alone (back-channel logout).
import { expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { personThere, startOidcService } from "../../support/sign-in/oidc-service.ts";

const isSignedIn = async (browser: { get(path: string): Promise<{ status: number }> }) =>
  (await browser.get("/portal/links")).status === 200;

it.each([true, false])(
  "ends the sessions that ended at the provider, told with a session there: %s",
  async (sendsSid) => {
    const service = await startOidcService({ OIDC_JOIN: "account" }, { sendsSid });
    const { provider } = service;
    try {
      const [desk, phone, other] = [service.browser(), service.browser(), service.browser()];
      for (const browser of [desk, phone]) await service.signIn(browser, personThere("anna"));
      await service.signIn(other, personThere("ben"));
      // Here first: the way there is a link, as no form may be answered by a redirect to another site.
      const bye = await desk.post("/portal/sign-out");
      expect([bye.status, await isSignedIn(desk)]).toEqual([200, false]);
      expect(await isSignedIn(phone)).toBe(true);
      const [, out = ""] = /href="(http[^"]+)"/.exec(bye.text) ?? [];
      const back = await provider.signOut(decoded(out), desk.there);
      expect((await desk.get(back.pathname)).text).toContain("You are signed out");
      // The phone has a session of its own there: it ends only where the provider names nobody's session.
      expect(await isSignedIn(phone)).toBe(sendsSid);
      expect(await isSignedIn(other)).toBe(true);
      // Sent again, it ends nothing that began since.
      const [token = ""] = provider.logoutTokens;
      expect(token).not.toBe("");
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      await service.signIn(desk, personThere("anna"));
      expect((await service.browser().post("/portal/oidc/logout", { logout_token: token })).status).toBe(200);
      expect(await isSignedIn(desk)).toBe(true);
      for (const logout_token of ["", "x.y.z", `${token.slice(0, -4)}AAAA`]) {
        const { status, headers } = await service.browser().post("/portal/oidc/logout", { logout_token });
        expect([status, headers["cache-control"]]).toEqual([400, "no-store"]);
      }
    } finally {
      await service.stop();
    }
  },
);
