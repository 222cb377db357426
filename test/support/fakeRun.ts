import { type RunSession } from "../../provider/engine/session";
import { type ProbeRequest, type ProbeResult } from "../../provider/verification/probe";
import { type Databases } from "../../provider/platform/databases";
import { NotSentError, RejectedError, UnconfirmedError } from "../../provider/platform/errors";
import { type FlowControl } from "../../provider/platform/flowControl";
import { RequestQueue } from "../../provider/platform/requestQueue";
import { secretOf } from "../../provider/verification/attempts";
import { type FlowControlKey } from "../../provider/records/flowControl";
import { type DatabaseResponse } from "../../provider/records/response";
import { Session } from "../../provider/rotation/session";

const facts = {
  purpose: "do it",
  method: "POST",
  url: "https://platform.test/x",
  consequences: { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." },
};

export const notSent = () => new NotSentError(facts, "it broke", "Fix it.");
export const rejected = () => new RejectedError(facts, "it broke", "Fix it.", 403, true);
export const unconfirmed = () => new UnconfirmedError(facts, "it broke", "Fix it.", 500);

/** Whether a verification made up a password, which must be refused. */
export const isMadeUp = (secret: string) => /^[\w-]{32}$/.test(secret);

/** A run without a platform: it records the calls, and returns given responses. */
export class FakeRun {
  /** Ids and keys whose reset was sent, in order. */
  readonly resets: string[] = [];
  readonly reads: string[] = [];
  /** Messages shown during the run. */
  readonly said: string[] = [];
  time = new Date("2026-11-21T12:00:00.000Z");
  maxResets: number | undefined;
  /** The mark of the account; undefined if the settings are not known. */
  account: string | undefined;
  /** Credentials that were tried, in order. */
  readonly probes: ProbeRequest[] = [];
  /** Milliseconds that were waited, one entry for each wait; nothing really waits. */
  readonly waits: number[] = [];
  elapsedMs = 0;
  /** What a database does with a credential. Default: it refuses only those that a verification made up. */
  probe: (request: ProbeRequest) => ProbeResult | Promise<ProbeResult> = ({ credential }) =>
    isMadeUp(secretOf(credential)) ? { is: "refused", words: "WRONGPASS no" } : { is: "accepted" };
  /** Returns the response to a password reset; called after the reset is recorded. */
  answer: (id: string) => Partial<DatabaseResponse> | Error = (id) => ({
    record: { databaseId: id, port: this.resets.length },
    credentials: { password: `password-${this.resets.length}` },
  });
  /** What a key's state is, by how often it was reset. */
  readKey: (resets: number) => Partial<FlowControlKey> | Error = (resets) => ({ rateCount: resets });
  resetKey: () => Error | undefined = () => undefined;

  /** A run as a host process has it: it remembers what was done in it. */
  start(): RunSession {
    const databases = {
      resetPassword: async (id: string): Promise<DatabaseResponse> => {
        this.resets.push(id);
        const answer = this.answer(id);
        if (answer instanceof Error) throw answer;
        return { record: {}, credentials: {}, exactIntegers: {}, problems: [], ...answer };
      },
    };
    const flowControl = {
      get: async (flowControlKey: string): Promise<FlowControlKey> => {
        this.reads.push(flowControlKey);
        const state = this.readKey(this.resets.length);
        if (state instanceof Error) throw state;
        return { flowControlKey, exists: true, waitListSize: 0, parallelismCount: 0, rateCount: 0, ...state };
      },
      reset: async (flowControlKey: string): Promise<void> => {
        this.resets.push(flowControlKey);
        const error = this.resetKey();
        if (error) throw error;
      },
    };
    return new Session({
      platform: {
        databases: databases as unknown as Databases,
        flowControl: flowControl as unknown as FlowControl,
        queueWithin: (maxConcurrency = 8) => new RequestQueue({ maxConcurrency }),
        probe: async (request) => {
          this.probes.push(request);
          return this.probe(request);
        },
      },
      maxResets: () => this.maxResets,
      databaseHost: () => undefined,
      account: () => this.account,
      now: () => this.time,
      timer: {
        now: () => this.elapsedMs,
        sleep: async (milliseconds) => {
          this.waits.push(milliseconds);
          this.elapsedMs += milliseconds;
        },
      },
      log: (line) => this.said.push(line),
    });
  }
}
