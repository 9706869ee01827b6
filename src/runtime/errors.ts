// Errors that are shown to users: a message for people, a stable code for programs.
/** `code` never changes once published. */
export abstract class DomainError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** What can't be done, for whoever runs the program; `code` where a caller tells it from others. Over HTTP it is an error of the service. */
export class Failure extends DomainError {
  override readonly code: string;
  constructor(message: string, { code = "failed", cause }: { code?: string; cause?: unknown } = {}) {
    super(message, { cause });
    this.code = code;
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
