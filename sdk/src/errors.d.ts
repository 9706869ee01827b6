/** `code`: stable, for programs; `requestId`: for whoever runs the service. */
export declare class LinkledgerError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  constructor(status: number, body: unknown);
}
type Called = {
  data?: unknown;
  error?: unknown;
  response: Response;
};
type Answered<C> = C extends {
  error?: never;
  data: infer Data;
}
  ? Data
  : never;
/**
 * What a call answers, without the envelope: `const link = await dataOf(client.GET(...))`.
 * @throws LinkledgerError when the service refused it
 */
export declare function dataOf<C extends Called>(call: Promise<C>): Promise<Answered<C>>;
