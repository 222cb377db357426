import assert from "node:assert/strict";
import { type Adapter, type Result } from "../support/host";
import { expectKind } from "../support/results";
import { secretOutputs } from "../support/secretOutputs";
import { type Properties, revealed, secretNames } from "../support/wire";
import { readMemory } from "../../provider/rotation/memory/memory";
import { formerOutputs, type Observation, type Phase, savedText } from "./phases";

/** The expected outcome of a fault. */
export interface Expected {
  readonly kind: "fails" | "retriedThenFails" | "unconfirmed" | "succeedsWithProblems" | "succeeds";
  /** Requests that the server sees. */
  readonly sent: number;
  readonly says: readonly RegExp[];
  /** Checks the saved outputs, with their secrets in plain text. */
  readonly saved?: ((outs: Properties) => void) | undefined;
}

const expecting =
  (kind: Expected["kind"]) =>
  (sent: number, ...says: RegExp[]): Expected => ({ kind, sent, says });
/** Fails, and the state is kept. */
export const fails = expecting("fails");
/** Is tried a limited number of times, then fails. */
export const retriedThenFails = expecting("retriedThenFails");
/** May have been applied: one request, and an init error. */
export const unconfirmed = (...says: RegExp[]) => expecting("unconfirmed")(1, ...says);
/** Succeeds, with these lines among the problems. */
export const succeedsWithProblems = (says: RegExp[], saved?: Expected["saved"]): Expected => {
  return { kind: "succeedsWithProblems", sent: 1, says, saved };
};
/** Succeeds without a problem. */
export const succeeds = ({ sent = 1, saved }: Partial<Pick<Expected, "sent" | "saved">> = {}): Expected => {
  return { kind: "succeeds", sent, says: [], saved };
};

/** The same is expected of a reset and of a read. */
export const everywhere = (expected: Expected) => ({ reset: expected, read: expected });
/** The response cannot be used: a reset may have been applied, and a read is not tried again. */
export const unusable = (reset: RegExp, read = reset) => ({ reset: unconfirmed(reset), read: fails(1, read) });
/** No response comes until the deadline, which leaves no time for another try. */
export const stalled = { reset: unconfirmed(/deadline/), read: retriedThenFails(1, /deadline/) };
/** The response is lost: a reset may have been applied, and a read is tried three times. */
export const lost = (...says: RegExp[]) => ({ reset: unconfirmed(...says), read: retriedThenFails(3, /3 attempts/) });

const words = {
  fails: "fails, state kept",
  retriedThenFails: "bounded retry, then fails",
  unconfirmed: "may have been applied: saved by an init error",
  succeedsWithProblems: "succeeds, with `problems`",
  succeeds: "passes",
};

export function inWords({ kind, sent }: Expected): string {
  return `${words[kind]}; ${sent} sent`;
}

const unchanged: Record<Phase, RegExp> = {
  create: /The password was not changed/,
  update: /The password was not changed/,
  read: /Nothing was changed/,
  "counter reset": /The counters (were not|may have been) reset/,
};
const advice = /(Check|Wait|Look at|Redirects are not followed|run again|Run `up` again)[^.]*\.?/;

/** Compares what was seen with what must be. */
export async function assertExpected(
  phase: Phase,
  key: string,
  adapter: Adapter,
  seen: Observation,
  expected: Expected,
): Promise<void> {
  const { result, requests } = seen;
  assert.equal(requests, expected.sent, JSON.stringify(result));
  switch (expected.kind) {
    case "fails":
    case "retriedThenFails": {
      const { message } = expectKind("failed", result);
      for (const pattern of [unchanged[phase], advice, ...expected.says]) assert.match(message, pattern);
      return;
    }
    case "unconfirmed":
      return assertUnconfirmed(phase, key, adapter, result, expected);
    case "succeedsWithProblems":
    case "succeeds":
      return assertDone(phase, result, expected);
  }
}

async function assertUnconfirmed(
  phase: Phase,
  key: string,
  adapter: Adapter,
  result: Result,
  expected: Expected,
): Promise<void> {
  const { id, outs, message } = expectKind("init error", result);
  assert.equal(id, key);
  for (const pattern of [
    /may have been changed/,
    /`pulumi stack output` may show old/,
    /it resets again/,
    advice,
    ...expected.says,
  ]) {
    assert.match(message, pattern);
  }
  const { memory, access, ...rest } = revealed(outs);
  const { attempt, salt } = readMemory(memory);
  assert.equal(attempt?.count, 1);
  const known = phase === "update" ? { count: 1, record: {} } : { count: 0 };
  assert.deepEqual(JSON.parse(String(access)), { id: key, of: "PasswordRotation", salt, ...known });
  const created = { databaseId: key, rotationCount: 0, ...savedText(adapter) };
  const former = phase === "update" ? await formerOutputs(key, adapter) : (created as Properties);
  const { memory: _memory, access: _access, ...kept } = former;
  assert.deepEqual(rest, { ...kept, outcome: "unknown" });
  const credentials = phase === "update" ? ["password", "restToken"] : [];
  assert.deepEqual(secretNames(outs), ["access", "memory", ...credentials]);
}

function assertDone(phase: Phase, result: Result, expected: Expected): void {
  const { outs } = expectKind("done", result);
  const plain = revealed(outs);
  if (phase === "create" || phase === "update") {
    assert.equal(plain.outcome, "reset");
    assert.equal(plain.rotationCount, phase === "create" ? 1 : 2);
    assert.deepEqual(
      secretNames(outs),
      secretOutputs.PasswordRotation.filter((name) => name in plain),
    );
    const problems = plain.problems as string[];
    if (expected.kind === "succeeds") assert.deepEqual(problems, []);
    else for (const pattern of expected.says) assert.match(problems.join("\n"), pattern);
  }
  expected.saved?.(plain);
}
