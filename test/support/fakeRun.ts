import assert from "node:assert/strict";
import { ResourceHandler } from "../../provider/engine/adapter";
import { type Notice, type Resource, type Result } from "../../provider/resource/resource";
import { type Properties } from "../../provider/pulumi/values";
import { databasePassword } from "../../provider/domain/secretKind";
import { type Platform, type QueueAccount, Run } from "../../provider/run/run";
import { type ProbeRequest, type ProbeResult } from "../../provider/clients/probe";
import { type Delivery, RequestError } from "../../provider/domain/errors";
import { type FlowControl } from "../../provider/platform/flowControl";
import { KnownSecrets } from "../../provider/platform/redact";
import { RequestQueue } from "../../provider/platform/http";
import { type NextTokens } from "../../provider/platform/nextTokens";
import { type SecretOperations } from "../../provider/platform/secretOperations";
import { type PlatformClient } from "../../provider/run/platformClient";
import { type FlowControlKey } from "../../provider/records/flowControl";
import { type SecretResponse } from "../../provider/records/secretResponse";
import { Settings } from "../../provider/settings/settings";
import { type SettingName } from "../../provider/settings/table";
import { type RotationInputs } from "../../provider/rotation/program/program";
import { rotationOf } from "../../provider/rotation/rotation";
import { type State } from "../../provider/rotation/memory/state";

const facts = {
  purpose: "do it",
  method: "POST",
  url: "https://platform.test/x",
  consequences: { unchanged: "Unchanged.", unknown: "Perhaps changed." },
};

const failure = (delivery: Delivery, status?: number) => (): never => {
  throw new RequestError(delivery, facts, { happened: "it broke", advice: "Fix it.", ...(status && { status }) });
};

/** What a request can fail with. */
export const notSent = failure("not sent");
export const rejected = failure("rejected", 403);
export const conflicting = failure("rejected", 409);
export const unconfirmed = failure("maybe applied", 500);

/** Whether a verification made up a password, which must be refused. */
export const isMadeUp = (secret: string) => /^[\w-]{32}$/.test(secret);

/** A run without a platform: it records the calls, and returns given responses. */
export class FakeRun {
  /** Ids and keys whose reset was sent, in order. */
  readonly resets: string[] = [];
  /** Ids and keys that were read, in order. */
  readonly reads: string[] = [];
  /** Whether each reset asked for a new connection, in order. */
  readonly newConnections: (boolean | undefined)[] = [];
  /** Messages shown during the run. */
  readonly said: string[] = [];
  time = new Date("2026-11-21T12:00:00.000Z");
  /** In addition to those of an account, or instead of them. */
  settings: Partial<Record<SettingName, string | undefined>> = {};
  /** Where signing keys are; undefined if the settings are not known. */
  queueAccount: QueueAccount | undefined;
  /** Credentials that were tried, in order. */
  readonly probes: ProbeRequest[] = [];
  /** Milliseconds that were waited, one entry for each wait; nothing really waits. */
  readonly waits: number[] = [];
  elapsedMs = 0;
  /** What a database does with a credential. Default: it refuses only those that a verification made up. */
  probe: (request: ProbeRequest) => ProbeResult | Promise<ProbeResult> = ({ credential }) =>
    isMadeUp(credential.value) ? { kind: "refused", words: "WRONGPASS no" } : { kind: "accepted" };
  /** Returns the response to a password reset; called after the reset is recorded. */
  answer: (id: string) => Partial<SecretResponse> = (id) => ({
    record: { databaseId: id, port: this.resets.length },
    credentials: { password: `password-${this.resets.length}` },
  });
  /** Whether the platform has an operation that reads a database. */
  canRead = false;
  /** Returns what a read shows, after so many resets; called after the read is recorded. */
  readDatabase: (id: string, resets: number) => Partial<SecretResponse> = (id, resets) => ({
    record: { databaseId: id, port: resets },
    credentials: { password: `password-${resets}` },
  });
  /** What a key's state is, by how often it was reset. */
  readKey: (resets: number) => Partial<FlowControlKey> = (resets) => ({ rateCount: resets });
  /** Returns the action that reset a key. */
  resetKey: (isKnown: boolean) => string = () => "reset";
  #last: { readonly text: string; readonly settings: Settings } | undefined;

  /**
   * A run as a host process has it: it remembers what was done in it.
   *
   * @param parts of a platform in place of the recorded ones
   */
  start(parts: Partial<Platform> = {}): Run {
    const empty = { record: {}, credentials: {}, exactIntegers: {}, problems: [] };
    const operations = {
      reset: async (id: string, { newConnection }: { newConnection?: boolean } = {}): Promise<SecretResponse> => {
        this.resets.push(id);
        this.newConnections.push(newConnection);
        return { ...empty, ...this.answer(id) };
      },
      read: async (id: string): Promise<SecretResponse> => {
        this.reads.push(id);
        return { ...empty, ...this.readDatabase(id, this.resets.length) };
      },
    };
    const emptyKey = { exists: true, waitListSize: 0, parallelismCount: 0, rateCount: 0 };
    const flowControl = {
      get: async (flowControlKey: string): Promise<FlowControlKey> => {
        this.reads.push(flowControlKey);
        return { flowControlKey, ...emptyKey, ...this.readKey(this.resets.length) };
      },
      reset: async (flowControlKey: string, isKnown: boolean): Promise<string> => {
        this.resets.push(flowControlKey);
        return this.resetKey(isKnown);
      },
    };
    const platform: Platform = {
      operations: () => operations as unknown as SecretOperations,
      nextTokens: {
        prepare: () => assert.fail("no next token is made here"),
        roll: () => assert.fail("no next token is rolled here"),
      } as unknown as NextTokens,
      list: () => assert.fail("nothing is listed here"),
      isReadOnly: () => assert.fail("only the doctor asks"),
      flowControl: flowControl as unknown as FlowControl,
      secrets: new KnownSecrets([]),
      useQueueToken: () => undefined,
      queueWithin: () => new RequestQueue(Number(this.settings.maxConcurrency ?? 8)),
      probe: async (request) => {
        this.probes.push(request);
        return this.probe(request);
      },
      statusOf: () => assert.fail("no program's request is sent here"),
      aclUsers: () => assert.fail("no users are changed here"),
      during: () => platform as PlatformClient,
      ...parts,
    };
    const settings: typeof this.settings = {
      baseUrl: "https://platform.example.com",
      username: "user",
      password: "management password",
      queueUrl: "https://queue.example.com",
      queueUserId: "queue-user",
      databasePath: this.canRead ? "/database/{id}" : "none",
      deadlineSeconds: "60",
      ...this.settings,
    };
    return new Run({
      platform: () => platform,
      settings: this.#readOnce(settings),
      queueAccount: () => this.queueAccount,
      clock: {
        now: () => this.time,
        elapsedMs: () => this.elapsedMs,
        sleep: async (milliseconds) => {
          this.waits.push(milliseconds);
          this.elapsedMs += milliseconds;
        },
      },
      end: new AbortController().signal,
      log: (line) => this.said.push(line),
    });
  }

  /** Settings remember what they have read: a walk has many runs with the same ones. */
  #readOnce(given: typeof this.settings): Settings {
    const text = JSON.stringify(given);
    if (this.#last?.text !== text) this.#last = { text, settings: new Settings((name) => given[name]) };
    return this.#last.settings;
  }
}

/** A result with the texts of its notices, in lines, and the message of its failure. */
function shown<R extends Partial<Pick<Result<object>, "failure">> & { readonly notices: readonly Notice[] }>(
  result: R,
): Omit<R, "notices"> & { readonly notice?: string; readonly warning?: string; readonly message?: string } {
  const { notices, ...rest } = result;
  const textOf = (warns: boolean) =>
    notices.flatMap(({ text, isWarning = false }) => (isWarning === warns ? [text] : [])).join("\n");
  const texts = { notice: textOf(false), warning: textOf(true), message: rest.failure?.message };
  return { ...rest, ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text)) };
}

/** The functions of a resource, whose results have the texts of their notices. */
export function asShown<I extends object, O extends object>(resource: Resource<I, O>) {
  return {
    check: (inputs: I, run = new FakeRun().start()) =>
      new ResourceHandler(resource, run).check({}, inputs as Properties).problems,
    plan: (saved: O | undefined, inputs: I, run = new FakeRun().start()) => shown(resource.plan(saved, inputs, run)),
    apply: async (saved: O | undefined, inputs: I, run: Run) => shown(await resource.apply(saved, inputs, run)),
    refresh: async (saved: O, run: Run) => shown((await resource.refresh?.(saved, run)) ?? assert.fail()),
    remove: async (saved: O, run: Run) => shown({ notices: (await resource.remove?.(saved, run)) ?? [] }).notice,
  };
}

/** The outputs of a rotation, with the memory as it is saved. */
export type SavedRotation = Omit<State, "memory"> & Record<"databaseId" | "outcome" | "memory", string>;

/** The resource for passwords of databases, with the types of its own inputs and outputs. */
export const passwordRotation = rotationOf(databasePassword) as unknown as Resource<
  RotationInputs & { readonly databaseId: string },
  SavedRotation
>;
