import { type Outcome } from "../provider/rotation/planRotation";
import { runError } from "./runError";
import { engineCommands } from "../provider/runtime";

/** @throws RekeyError if the last reset was not confirmed: a program must not use the former credentials. */
export function requireKnown(outcome: Outcome, name: string): void {
  if (outcome !== "unknown") return;
  throw runError(
    "REKEY_UNCONFIRMED",
    `PasswordRotation ${JSON.stringify(name)}: the last reset was not confirmed. The password may have been changed, and the new one is unknown. ` +
      `The credentials in this stack are the former ones. Run \`${engineCommands.up}\` again: it sends one more reset.`,
  );
}
