import { RequestError } from "../../../domain/errors";
import { type SecretResponse } from "../../../records/secretResponse";
import { poll, untilEnd } from "../../../run/poll";
import { compare, type Verdict } from "../../plan/compare";
import { marksOf } from "../../memory/marks";
import { type Memory } from "../../memory/memory";
import { type SourceContext } from "../../lifecycle/source";

/** The result of several reads. */
export interface LastRead {
  /** The last of them that did not fail, and what that proves. */
  readonly read?: SecretResponse;
  readonly verdict?: Verdict;
  /** It has shown the one that is to be replaced, or an older one. */
  readonly isOld?: boolean;
  /** Why it has shown no new credential. */
  readonly why?: string | undefined;
}

/** Milliseconds of a read at the end of the time for reads. */
const lastReadMs = 1_000;

/**
 * Reads until the old credential is no longer shown, because a platform may apply a reset later than it responds, and a
 * read may show an older record. A read without the credential ends it, too: waiting does not unmask a password.
 */
export function readUntilChanged(
  { subject, run, reads }: Pick<SourceContext, "subject" | "run" | "reads">,
  memory: Memory,
): Promise<LastRead> {
  const { clock, end, settings } = run.options;
  const endsAtMs = clock.elapsedMs() + settings.deadlineMs;
  // The last read that did not fail.
  let shown: LastRead = {};
  const ended = () => ({ ...shown, why: "the run has ended", isFinal: true });
  const act = async (): Promise<LastRead & { readonly isFinal: boolean }> => {
    if (end.aborted) return ended();
    const limitMs = Math.max(lastReadMs, endsAtMs - clock.elapsedMs());
    try {
      const operations = run.during({ limitMs }).platform.operations(subject.kind);
      const read = await untilEnd(end, operations.read(subject.id));
      if (read === undefined) return ended();
      reads.push(read.credentials);
      const verdict = compare(memory, marksOf(memory, read.credentials), subject.kind);
      const isOld = verdict === "late" || (verdict === "unchanged" && memory.attempt !== undefined);
      const why = isOld
        ? "the platform still shows the old one"
        : "the platform neither returned it nor shows it";
      shown = { read, verdict, isOld, why: isOld || verdict === "hidden" ? why : undefined };
      return { ...shown, isFinal: !isOld };
    } catch (error) {
      return { ...shown, ...whyNotRead(error) };
    }
  };
  return poll(run, { act, isDone: ({ isFinal }) => isFinal, endsAtMs });
}

function whyNotRead(error: unknown): { readonly why: string; readonly isFinal: boolean } {
  if (!(error instanceof RequestError)) {
    return { why: "it could not be read (pulumi-rekey failed unexpectedly)", isFinal: false };
  }
  const { happened, delivery, status } = error;
  const isFinal = delivery === "rejected" && status !== 429;
  return { why: `it could not be read (${happened})`, isFinal };
}
