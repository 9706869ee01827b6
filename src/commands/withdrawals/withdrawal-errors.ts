// Refusals of commands on withdrawals of clicks.
import { CommandRefused } from "../errors.ts";

export class InvalidWithdrawal extends CommandRefused {
  override readonly code = "invalid_withdrawal";
}

/** No click of the link is named, or all that are have been withdrawn before. */
export class NothingToWithdraw extends CommandRefused {
  override readonly code = "nothing_to_withdraw";
  constructor(matched: number) {
    super(
      matched === 0
        ? "No click of this link is named by that"
        : `All ${matched} clicks that this names are withdrawn already`,
    );
  }
}

/** Another withdrawal of the link was made or taken back after the clicks were counted. */
export class WithdrawalsChanged extends CommandRefused {
  override readonly code = "withdrawals_changed";
  constructor() {
    super("Another withdrawal of this link was made or taken back in this moment; look again");
  }
}

export class WithdrawalNotFound extends CommandRefused {
  override readonly code = "withdrawal_not_found";
  constructor() {
    super("This link has no such withdrawal");
  }
}

export class AlreadyRestored extends CommandRefused {
  override readonly code = "already_restored";
  constructor(at: string) {
    super(`This withdrawal was taken back at ${at}`);
  }
}
