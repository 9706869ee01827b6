// The console of a test service, asked with the operator's token.
import type { Ask } from "../service/ask.ts";
import type { TestService } from "../service/start-service.ts";

export const ADMIN_TOKEN = "operator-0123456789abcdef0123456789";

export function operatorOf(service: Pick<TestService, "ask">) {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  return {
    get: async <T>(path: string, query: Record<string, string> = {}) => {
      const answer = await service.ask<T>(`/admin/api${path}?${new URLSearchParams(query)}`, { headers });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
    ask: <T>(path: string, given: Ask = {}) => service.ask<T>(`/admin/api${path}`, { headers, ...given }),
    post: <T>(path: string, body: unknown = {}) =>
      service.ask<T>(`/admin/api${path}`, { method: "POST", headers, body }),
  };
}
