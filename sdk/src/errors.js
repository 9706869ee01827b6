// What the service refused, as an error for those who would rather catch than look.

/** `code`: stable, for programs; `requestId`: for whoever runs the service. */
export class LinkledgerError extends Error {
  status;
  code;
  requestId;

  constructor(status, body) {
    const { error, code, request_id } = body ?? {};
    super(typeof error === "string" ? error : `The service answered ${status}`);
    this.name = "LinkledgerError";
    this.status = status;
    this.code = typeof code === "string" ? code : "unknown";
    this.requestId = typeof request_id === "string" ? request_id : undefined;
  }
}

/**
 * What a call answers, without the envelope: `const link = await dataOf(client.GET(...))`.
 * @throws LinkledgerError when the service refused it
 */
export async function dataOf(call) {
  const { data, error, response } = await call;
  if (!response.ok) throw new LinkledgerError(response.status, error);
  return data;
}
