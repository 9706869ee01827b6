// /admin/api/accounts: accounts as JSON, one of them by whatever names it, and what the operator can do with it.
import type { Api } from "../../../api/fastify.ts";
import { accountDetails, accountsPage } from "../../../queries/accounts.ts";
import { AccountsQuestion } from "../../../queries/audit/questions.ts";
import { AccountAct, AccountParams, namedAccount, performAccountAct } from "../accounts/account-acts.ts";
import type { ConsoleDeps } from "../guard.ts";

export function accountRoutes(app: Api, deps: ConsoleDeps): void {
  app.get("/accounts", { schema: { querystring: AccountsQuestion } }, async ({ query }) => {
    const { find } = query;
    if (find === undefined) return await accountsPage(deps, query);
    return { accounts: [await accountDetails(deps, await namedAccount(deps, find))], next: null };
  });

  const params = AccountParams;
  app.get("/accounts/:accountId", { schema: { params } }, async (request) =>
    accountDetails(deps, await namedAccount(deps, request.params.accountId)),
  );

  app.post("/accounts/:accountId", { schema: { params, body: AccountAct } }, async (request) => {
    const accountId = await namedAccount(deps, request.params.accountId);
    await performAccountAct(deps, request, accountId, request.body);
    return await accountDetails(deps, accountId);
  });
}
