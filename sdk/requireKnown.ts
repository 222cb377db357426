import * as pulumi from "@pulumi/pulumi";
import { engineCommands } from "../provider/engineCommands";
import { type Outcome } from "../provider/rotation/planRotation";

/** @throws RunError where the last reset was not confirmed: a program must not go on with the former credentials. */
export function requireKnown(outcome: Outcome, name: string): void {
  if (outcome !== "unknown") return;
  throw new pulumi.RunError(
    `PasswordRotation ${JSON.stringify(name)}: the last reset was not confirmed, so that the password may have been changed and is not known. ` +
      `Its credentials in this stack are the former ones. Run \`${engineCommands.up}\` again: it sends one more reset.`,
  );
}
