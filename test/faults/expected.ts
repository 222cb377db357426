import assert from "node:assert/strict";
import { type Result } from "../support/host";
import { expectKind } from "../support/results";
import { type Properties, revealed, secretNames } from "../support/wire";
import { formerOutputs, type Observation, type Phase } from "./phases";

/** What must come of a fault: a letter of the table, how many requests there may be, what the message says. */
export interface Expected {
  readonly letter: "F" | "B" | "A" | "P" | "passes";
  /** Requests that the server sees; a pair where time decides. */
  readonly requests: number | readonly [least: number, most: number];
  readonly says: readonly RegExp[];
  /** Looks at what is saved, secrets in plain. */
  readonly saved?: (outs: Properties) => void;
}

/** Fails, and the state is kept. */
export const F = (requests: Expected["requests"], ...says: RegExp[]): Expected => ({ letter: "F", requests, says });
/** Bounded retry, then fails. */
export const B = (requests: Expected["requests"], ...says: RegExp[]): Expected => ({ letter: "B", requests, says });
/** May have been applied: one request, and an init error. */
export const A = (...says: RegExp[]): Expected => ({ letter: "A", requests: 1, says });
/** Succeeds, with these lines among the problems. */
export const P = (problems: RegExp[], saved?: Expected["saved"]): Expected => ({
  letter: "P",
  requests: 1,
  says: problems,
  ...(saved && { saved }),
});
/** Succeeds, without a problem. */
export const passes = (saved?: Expected["saved"], requests: Expected["requests"] = 1): Expected => ({
  letter: "passes",
  requests,
  says: [],
  ...(saved && { saved }),
});

const words = {
  F: "fails, state kept",
  B: "bounded retry, then fails",
  A: "may have been applied: saved by an init error",
  P: "succeeds, with `problems`",
  passes: "passes",
};

export function inWords({ letter, requests }: Expected): string {
  const range = typeof requests === "number" ? String(requests) : requests.join(" to ");
  return `${words[letter]}; ${range} sent`;
}

const unchanged: Record<Phase, RegExp> = {
  create: /The password was not changed/,
  update: /The password was not changed/,
  read: /Nothing was changed/,
  "counter reset": /The counters (were not|may have been) reset/,
};
const advice = /(Check|Wait|Mend|Look at|Redirects are not followed|run again)[^.]*\.?/;

/** Holds what was seen against what must be. */
export function hold(phase: Phase, key: string, { result, requests }: Observation, expected: Expected): void {
  const [least, most] =
    typeof expected.requests === "number" ? [expected.requests, expected.requests] : expected.requests;
  assert.ok(requests >= least && requests <= most, `${requests} requests, ${JSON.stringify(result)}`);
  switch (expected.letter) {
    case "F":
    case "B": {
      const { message } = expectKind("failed", result);
      for (const pattern of [unchanged[phase], advice, ...expected.says]) assert.match(message, pattern);
      return;
    }
    case "A":
      return holdUnconfirmed(phase, key, result, expected);
    case "P":
    case "passes":
      return holdDone(phase, result, expected);
  }
}

function holdUnconfirmed(phase: Phase, key: string, result: Result, expected: Expected): void {
  const { id, outs, message } = expectKind("init error", result);
  assert.equal(id, key);
  for (const pattern of [/may have been changed/, /The next `up` sends one more reset/, advice, ...expected.says]) {
    assert.match(message, pattern);
  }
  const { attemptedTrigger, ...rest } = revealed(outs);
  assert.equal(typeof attemptedTrigger, "string");
  const { __provider, ...former } = formerOutputs(key);
  const kept = phase === "update" ? former : { databaseId: key, rotationCount: 0 };
  assert.deepEqual(rest, { ...kept, __provider, outcome: "unknown", unconfirmedResets: 1 });
  const secrets =
    phase === "update" ? ["appliedTrigger", "attemptedTrigger", "password", "restToken"] : ["attemptedTrigger"];
  assert.deepEqual(secretNames(outs), secrets);
}

function holdDone(phase: Phase, result: Result, expected: Expected): void {
  const { outs } = expectKind("done", result);
  const plain = revealed(outs);
  if (phase === "create" || phase === "update") {
    assert.equal(plain.outcome, "reset");
    assert.equal(plain.rotationCount, phase === "create" ? 1 : 4);
    const secrets = ["appliedTrigger", "otherFields", "password", "readOnlyRestToken", "restToken"];
    assert.deepEqual(
      secretNames(outs),
      secrets.filter((name) => name in plain),
    );
    const problems = plain.problems as string[];
    if (expected.letter === "passes") assert.deepEqual(problems, []);
    else for (const pattern of expected.says) assert.match(problems.join("\n"), pattern);
  }
  expected.saved?.(plain);
}
