import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { RefusedError, type RequestFacts } from "../domain/errors";
import { type SecretKind } from "../domain/secretKind";
import { type Call, type PlatformClient } from "./platformClient";
import { canonicalId, type Credentials, orUndefined } from "../records/fields";
import { type Settings } from "../settings/settings";

/** The platform, as a run uses it. By default, it may only be read. */
export type Platform = Pick<PlatformClient, keyof PlatformClient>;

export interface RunOptions {
  readonly settings: Settings;
  /** Called when the platform is first needed. */
  readonly platform: () => Platform;
  /** The account of the queue; undefined if its settings are missing or cannot be used. */
  readonly queueAccount: () => QueueAccount | undefined;
  readonly clock: Clock;
  /** Aborted once the run ends: nothing waits any longer. */
  readonly end: AbortSignal;
  /** Shows the user a line during the run. */
  readonly log: (line: string) => void;
}

interface Clock {
  now(): Date;
  /** Milliseconds from some moment on. It is never set back. */
  elapsedMs(): number;
  sleep(milliseconds: number): Promise<void>;
}

/** The account whose signing keys the settings reach. */
export interface QueueAccount {
  /** A hash of its address, and of its user or token. */
  readonly account: string;
  /** Its address, which messages name. */
  readonly address: string;
}

/** A run's facts about the retirement of the former ones of one secret. */
interface RetirementInRun {
  /** True if one waits for it after this run, by the plan of the rotation; undefined if that is not known. */
  waits?: boolean | undefined;
  /** `access` of the Retirement that was created, or that the run keeps: one that is deleted works with it. */
  stays?: string;
  /** A Diff has announced that the end of this run retires. */
  isAnnounced?: boolean;
  /** `retires` of each Retirement that was deleted. */
  readonly deleted: (string | undefined)[];
  /** The only one of this run. */
  retired?: Promise<readonly unknown[]>;
}

/** The state that the resources of a run share. It is kept for as long as the host process lives. */
class SharedInRun {
  /** Values of each secret that reads have shown, and those that resets have replaced. */
  readonly reads = new Map<string, Credentials[]>();
  readonly replacedValues = new Map<string, Credentials[]>();
  /** The results of resets, which an engine that repeats a call gets again. */
  readonly results = new Map<string, Promise<unknown>>();
  /** The secrets that were refreshed. All are in the state: a new resource for one is probably a renamed one. */
  readonly refreshed = new Set<string>();
  /** Attempts to encrypt for recipients of age. */
  readonly triedRecipients = new Map<string, Promise<unknown>>();
  /** Facts about the retirement of each secret, by its key. */
  readonly retirements = new Map<string, RetirementInRun>();
  /** Memories of verifications over HTTP that a Diff has replaced, by the request that their Create proves. */
  readonly replacedProofs = new Map<string, string>();
  /** The resources that have what only one may have, by that. */
  readonly owners = new Map<string, string>();
  /** The users whose passwords resources of this run hand out or have added, by hash and name: `passwordKey`. */
  readonly passwordOwners = new Map<string, string>();
  /**
   * The limits that this run has declared, by their keys: of each resource that it compares, creates or updates. A
   * check alone does not count, because a destroy that runs the program checks what it then removes.
   */
  readonly declaredLimits = new Map<string, object>();
  /** The services of whose settings a warning was given. */
  readonly warnedServices = new Set<string>();
  /** The secrets whose resets were announced. */
  readonly announced = new Set<string | symbol>();
  /** The secrets whose reset was sent; one of which two were sent is in it twice. */
  readonly sent: string[] = [];
  /** The secrets whose reset is counted, and will be sent. */
  readonly reserved = new Set<string>();
}

/** One run of the engine: what its resources share. */
export class Run {
  #platform: Platform | undefined;

  constructor(
    readonly options: RunOptions,
    readonly shared = new SharedInRun(),
  ) {}

  /** It is made when it is first needed. */
  get platform(): Platform {
    return (this.#platform ??= this.options.platform());
  }

  /** A text as it may be shown: well-formed, and without the secrets that are known by now. */
  redacted(text: string): string {
    return (this.#platform?.secrets.redact(text) ?? text).toWellFormed();
  }

  /** The same run for one call of the engine. Only with a permission, it may change something. */
  during(call: Call): Run {
    return new Run({ ...this.options, platform: () => this.platform.during(call) }, this.shared);
  }

  /** A warning, once in a run, that the requests to a service that are planned will fail because of its settings. */
  settingsWarning(
    service: SecretKind["service"],
  ): { readonly text: string; readonly isWarning: true }[] {
    const { warnedServices } = this.shared;
    if (service === undefined || warnedServices.has(service)) return [];
    warnedServices.add(service);
    const error = this.options.settings.errorFor(service);
    return error ? [{ text: `\`up\` will fail: ${error.problem}.`, isWarning: true }] : [];
  }

  /** @param key of the secret: `keyOf` */
  retirementOf(key: string): RetirementInRun {
    const { retirements } = this.shared;
    const found = retirements.get(key) ?? { deleted: [] };
    retirements.set(key, found);
    return found;
  }

  /**
   * Counts announced resets, each secret once.
   *
   * @returns how many this run has announced with these, and how many it may send; undefined if all were announced
   * before
   */
  announce(
    secrets: readonly (string | symbol)[],
  ): Readonly<{ count: number; limit: number | undefined }> | undefined {
    const { announced } = this.shared;
    const before = announced.size;
    for (const secret of secrets) announced.add(secret);
    const limit = this.options.settings.get("maxResetsPerRun");
    return announced.size === before ? undefined : { count: announced.size, limit };
  }

  /** How many resets the run's limit leaves for these secrets: what was announced for others is taken off. */
  leftFor(secrets: readonly string[]): number {
    const own = new Set<string | symbol>(secrets);
    const others = [...this.shared.announced].filter((secret) => !own.has(secret));
    return Math.max(0, this.#limit - others.length);
  }

  /**
   * Counts resets against the run's limit before the first one is sent: all that this run has not sent yet, or none.
   *
   * @returns how many were asked for and how many the limit leaves, if those are too many
   */
  reserveResets(secrets: readonly string[]): Readonly<{ count: number; left: number }> | undefined {
    const { sent, reserved } = this.shared;
    const open = secrets.filter((secret) => !sent.includes(secret));
    const left = this.#limit - sent.length - reserved.size;
    if (open.length > left) return { count: open.length, left };
    for (const secret of open) reserved.add(secret);
    return undefined;
  }

  /** Ends the reservation of resets that were not sent. */
  releaseResets(secrets: readonly string[]): void {
    for (const secret of secrets) this.shared.reserved.delete(secret);
  }

  /**
   * Counts one reset against the run's limit. The returned function undoes that, for a reset that was not made.
   *
   * @param secret what is to be reset: `password of database "sessions"`
   */
  reserveReset(secret: string): () => void {
    const { sent, reserved } = this.shared;
    const limit = this.#limit;
    if (!reserved.delete(secret) && sent.length + reserved.size >= limit) {
      const why =
        limit === 0
          ? "rekey:maxResetsPerRun is 0, so a run may send none. To keep it, set `initialRotation: false` on a new resource, or undo the change that resets it; to reset it, raise the limit"
          : `other resets of this run have used up its limit, rekey:maxResetsPerRun: ${limit}. Check that so many are intended, then raise the limit or run again`;
      throw new RefusedError("REKEY_RESET_LIMIT", { secret, why });
    }
    sent.push(secret);
    return () => void sent.splice(sent.lastIndexOf(secret), 1);
  }

  get #limit(): number {
    return this.options.settings.get("maxResetsPerRun") ?? Infinity;
  }
}

/** The options of a run that involve the engine. */
interface HostOptions extends Partial<Pick<RunOptions, "end" | "log">> {
  /** Called before a reset or a credential is sent. @throws RequestError if the engine could not save the result */
  readonly requireEngine?: ((facts: RequestFacts) => Promise<void>) | undefined;
}

/** The run of a host process. By default, it never ends, and prints lines to standard error. */
export function startRun(
  settings: Settings,
  {
    requireEngine,
    end = new AbortController().signal,
    log = (line) => {
      if (!end.aborted) console.error(line);
    },
  }: HostOptions = {},
): Run {
  // Each database that is read waits for it.
  setMaxListeners(0, end);
  const run: Run = new Run({
    settings,
    platform: () => {
      // The HTTP client is loaded on first use: a run with nothing to do does not need it.
      const { PlatformClient } = require("./platformClient") as typeof import("./platformClient");
      return new PlatformClient(settings, requireEngine);
    },
    queueAccount: () => queueAccountOf(settings),
    clock: { now: () => new Date(), elapsedMs: () => performance.now(), sleep },
    end,
    log: (line) => log(run.redacted(line)),
  });
  return run;
}

function queueAccountOf(settings: Settings): QueueAccount | undefined {
  return orUndefined(() => {
    const address = settings.require("queueUrl");
    const user = canonicalId(settings.get("queueUserId") ?? settings.require("queueToken"));
    const hash = createHash("sha256").update(JSON.stringify([address, user]));
    return { account: hash.digest("base64url").slice(0, 8), address };
  });
}
