import { type Subject } from "../platform/secretKind";
import { type SecretResponse } from "../records/response";
import { type Run } from "../run";
import { withCreation } from "./evidence";
import { type Learned, type Rotated } from "./findings";
import { bestOf, emptyMemory, marksOf } from "./memory";
import { type Context, contextOf, declaredIn, type Desired } from "./plan";
import { readBefore } from "./reads";
import { save } from "./save";
import { type State, withRecord } from "./state";
import { triggerMark } from "./trigger";

/**
 * The state of a secret that is adopted without a reset.
 *
 * @param desired undefined for an import, which does not know the program
 */
export function adopt(desired: Desired | undefined, read: SecretResponse | undefined, context: Context): Learned {
  const memory = emptyMemory(context);
  const { credentials = {} } = read ?? {};
  const current = marksOf(memory, credentials);
  const adopted: State = {
    ...credentials,
    outcome: "adopted",
    adoptedAt: memory.rotatedAt,
    rotationCount: 0,
    memory: {
      ...memory,
      applied: desired && triggerMark(memory, desired),
      current,
      declared: desired ? declaredIn(desired) : { saveCredentials: false },
    },
  };
  const why = read
    ? "the platform does not show them"
    : "nothing was contacted, because rekey:databasePath is not set, so this platform cannot be read";
  return {
    state: read ? withCreation(withRecord(adopted, read), context) : adopted,
    findings: bestOf(current) ? [] : [{ kind: "adopted", why }],
  };
}

/**
 * Adopts a secret for an import, which does not know the program, so values are not saved if a read can show them.
 *
 * @throws RekeyError if it could not be read
 */
export async function adoptSecret(subject: Subject, run: Run): Promise<Rotated> {
  const context = contextOf(subject, run);
  run.platform.operations(subject.kind);
  const read = context.canRead ? await readBefore(subject, "adopted", run) : undefined;
  const adopted = adopt(undefined, read, context);
  return save(subject, undefined, adopted, adopted.state.memory.declared, run);
}
