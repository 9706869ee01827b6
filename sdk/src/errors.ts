// What the service refused, as an error for those who would rather catch than look.

/** `code`: stable, for programs; `requestId`: for whoever runs the service. */
export class LinkledgerError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;

  constructor(status: number, body: unknown) {
    const { error, code, request_id } = (body ?? {}) as Record<string, unknown>;
    super(typeof error === "string" ? error : `The service answered ${status}`);
    this.name = "LinkledgerError";
    this.status = status;
    this.code = typeof code === "string" ? code : "unknown";
    this.requestId = typeof request_id === "string" ? request_id : undefined;
  }
}

type Called = { data?: unknown; error?: unknown; response: Response };
type Answered<C> = C extends { error?: never; data: infer Data } ? Data : never;

/**
 * What a call answers, without the envelope: `const link = await dataOf(client.GET(...))`.
 * @throws LinkledgerError when the service refused it
 */
export async function dataOf<C extends Called>(call: Promise<C>): Promise<Answered<C>> {
  const { data, error, response } = await call;
  if (!response.ok) throw new LinkledgerError(response.status, error);
  return data as Answered<C>;
}
