import { type ProbeResult } from "../clients/probe";
import { RekeyError } from "../domain/errors";
import { secretOf, type Subject } from "../domain/secretKind";
import { poll } from "../run/poll";
import { type SourceContext } from "./source";

/** Tries what was added until it is accepted: a platform may accept a secret later than it returns it. */
export function proveUntilAccepted(
  { run }: Pick<SourceContext, "run">,
  act: () => Promise<ProbeResult>,
): Promise<ProbeResult> {
  const { clock, settings } = run.options;
  return poll(run, {
    act,
    isDone: ({ kind }) => kind === "accepted",
    endsAtMs: clock.elapsedMs() + settings.deadlineMs,
  });
}

export function notProven(
  subject: Subject,
  proof: Exclude<ProbeResult, { kind: "accepted" }>,
): RekeyError {
  return unproven(
    subject,
    proof.kind === "refused"
      ? `it is refused: ${proof.words}`
      : `it could not be tried: ${proof.why}`,
  );
}

/** The error of what was made valid and is not handed out, because that is not proven. */
export function unproven(subject: Subject, why: string): RekeyError {
  const { word, shape } = subject.kind;
  const check =
    shape === "redis" ? "admin" : "queueUrl or rekey:queueUrl (the address of its region)";
  const text = `The new ${secretOf(subject)} was made valid, but not proven: ${why}. It was not handed out, and the former ${word} stays valid. Check ${check}, rekey:proxy and rekey:caFile, then run \`up\` again, which tries it again.`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "responded");
}
