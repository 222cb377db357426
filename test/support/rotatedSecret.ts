import { databasePassword, type SecretKind } from "../../provider/domain/secretKind";
import { type Credentials } from "../../provider/records/fields";
import { type SecretResponse } from "../../provider/records/secretResponse";
import { type Notice, type Resource, type Result } from "../../provider/resource/resource";
import { type RotationInputs } from "../../provider/rotation/program/program";
import { type Memory, readMemory } from "../../provider/rotation/memory/memory";
import { credentialsIn, type State, stateIn } from "../../provider/rotation/memory/state";
import { type Context } from "../../provider/rotation/program/plan";
import { rotationOf } from "../../provider/rotation/rotation";
import { contextOf } from "../../provider/rotation/program/context";
import { type Platform, type Run } from "../../provider/run/run";
import { FakeRun, unconfirmed } from "./fakeRun";
import { type Properties } from "./wire";

/** What a platform does in one call of the engine. */
export interface PlatformDoes {
  /** What a read shows until a reset is sent. Default: this platform cannot be read. */
  readonly shows?: Credentials;
  /** What a read shows after that, or fails with. Default: what `shows` says. */
  readonly showsAfter?: Credentials | (() => Credentials);
  /** What the response to a reset has, or what it fails with. Default: no credential. */
  readonly responds?: Credentials | (() => Partial<SecretResponse>);
  /** Parts of a platform in place of those of `FakeRun`. */
  readonly parts?: Partial<Platform>;
  /** The record of each response. */
  readonly record?: Readonly<Record<string, unknown>>;
  /** Other fields of each read, as JSON text. */
  readonly otherFields?: string | undefined;
  /** How often the engine makes the call in one run, each time with the same state. Default: once. */
  readonly calls?: number;
}

/** The response to a reset is lost. */
export const isLost = unconfirmed;

/** What came of one call of the engine. */
export interface Came {
  /** The code of its failure, whether or not a state was saved. */
  readonly code?: string | undefined;
  /** The message of its failure. */
  readonly message?: string | undefined;
  /** The texts of its notices, without their subject, in lines. */
  readonly said: string;
  /** Resets that were sent, and reads. */
  readonly sent: number;
  readonly reads: number;
}

/**
 * A secret whose states are made by its resource itself, each in a run of its own: tests do not know what is saved.
 * Its clock stands still, unless a test sets `hours`.
 */
export class RotatedSecret {
  readonly fake = new FakeRun();
  readonly #resource: Required<Resource<RotationInputs, Properties>>;

  constructor(
    readonly kind: SecretKind = databasePassword,
    /** The outputs as an engine saves them, with secrets in plain text. */
    public outputs?: Properties,
    readonly id = "db",
  ) {
    this.#resource = rotationOf(kind) as unknown as Required<Resource<RotationInputs, Properties>>;
    this.hours = 0;
  }

  /** Hours since the begin of 2026. */
  set hours(hours: number) {
    this.fake.time = timeAt(hours);
  }

  get state(): State {
    return stateIn(this.outputs ?? {});
  }

  get memory(): Memory {
    return readMemory(this.outputs?.["memory"]);
  }

  /** The credentials whose values are saved. */
  get saved(): Credentials {
    return credentialsIn(this.outputs);
  }

  /** The context of a plan, by default on a platform that can be read. */
  context(more: Partial<Context> = {}): Context {
    return { ...contextOf(this.kind, this.fake.start()), canRead: true, ...more };
  }

  /** Another secret with the same past. */
  copy(): RotatedSecret {
    const copy = new RotatedSecret(this.kind, this.outputs, this.id);
    copy.fake.time = this.fake.time;
    copy.fake.queueAccount = this.fake.queueAccount;
    copy.fake.settings = this.fake.settings;
    return copy;
  }

  /** An `up`. If it fails without a state, the former one stays. */
  up(desired: RotationInputs, does: PlatformDoes = {}): Promise<Came> {
    return this.#call(does, (run) =>
      this.#resource.apply(this.outputs, { ...desired, [this.kind.idInput]: this.id }, run),
    );
  }

  /** The texts of a preview's notices, in lines. */
  preview(desired: RotationInputs): string {
    const inputs = { ...desired, [this.kind.idInput]: this.id };
    return textsOf(this.#resource.plan(this.outputs, inputs, this.fake.start()).notices);
  }

  refresh(does: PlatformDoes): Promise<Came> {
    return this.#call(does, (run) => this.#resource.refresh(this.outputs ?? {}, run));
  }

  import(does: PlatformDoes): Promise<Came> {
    return this.#call(does, (run) => this.#resource.import(this.id, run));
  }

  async #call(does: PlatformDoes, act: (run: Run) => Promise<Result<Properties>>): Promise<Came> {
    const { fake } = this;
    const before = { sent: fake.resets.length, reads: fake.reads.length };
    this.#meet(does);
    const run = fake.start(does.parts);
    for (let nth = 1; nth < (does.calls ?? 1); nth++) await act(run).catch(() => undefined);
    const result = await act(run).catch((error: unknown) => error as Error & { code?: string });
    const requests = { sent: fake.resets.length - before.sent, reads: fake.reads.length - before.reads };
    if (result instanceof Error) {
      return { code: result.code ?? result.name, message: result.message, said: "", ...requests };
    }
    this.outputs = JSON.parse(JSON.stringify(result.outputs)) as Properties;
    const { failure, notices = [] } = result;
    return { code: failure?.code, message: failure?.message, said: textsOf(notices), ...requests };
  }

  #meet({ shows, showsAfter = shows, responds = {}, record = {}, otherFields }: PlatformDoes): void {
    const { fake } = this;
    const before = fake.resets.length;
    fake.canRead = shows !== undefined || showsAfter !== undefined;
    fake.readDatabase = (_, resets) => {
      const shown = resets > before ? showsAfter : shows;
      const credentials = (typeof shown === "function" ? shown() : shown) ?? {};
      return { record, credentials, ...(otherFields !== undefined && { otherFields }) };
    };
    fake.answer = () => ({ record, ...(typeof responds === "function" ? responds() : { credentials: responds }) });
  }
}

/** The texts of notices without their subject, in lines. */
function textsOf(notices: readonly Notice[]): string {
  return notices.map(({ text }) => text.replace(/^(The .*?(?= (is|was|may) ) |.*?: )/, "")).join("\n");
}

/** Hours since the begin of 2026. */
export function timeAt(hours: number): Date {
  return new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000);
}

/** A secret that an `up` has reset for these inputs, on a platform that cannot be read. */
export async function resetSecret(
  desired: RotationInputs,
  credentials: Credentials,
  {
    kind,
    id,
    at,
    record = {},
  }: { kind?: SecretKind | undefined; id?: string; at?: Date | undefined; record?: Properties } = {},
): Promise<RotatedSecret> {
  const secret = new RotatedSecret(kind, undefined, id);
  if (at) secret.fake.time = at;
  await secret.up(desired, { responds: credentials, record });
  return secret;
}

/** A secret that calls have made. */
export type Made = Promise<RotatedSecret>;

/** The secret after one more `up`, by default at hour 0. */
export async function afterUp(
  secret: RotatedSecret | Made,
  ...[desired, does, hours = 0]: [desired: RotationInputs, does: PlatformDoes, hours?: number]
): Made {
  const next = await secret;
  next.hours = hours;
  await next.up(desired, does);
  return next;
}
