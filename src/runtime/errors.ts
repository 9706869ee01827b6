// The base class of errors that are shown to users: a message for people, a stable code for programs.
/** `code` never changes once published; runtime/refused.ts has the status and exit code of each refusal. */
export abstract class DomainError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
