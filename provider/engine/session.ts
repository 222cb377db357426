import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type FlowControlLimitsSession } from "../flowControl/flowControlLimits";
import { type FlowControlSession } from "../flowControl/flowControlReset";
import { type RequesterOptions } from "../platform/http";
import { RefusedError } from "../platform/errors";
import { type RequestQueue } from "../platform/requestQueue";
import { markAccount } from "../rotation/planRotation";
import { fleetName, type FleetSession, type Session, type SessionOptions } from "../rotation/session";
import { type FoundSetting, type Settings } from "../settings/settings";
import { type VerificationSession } from "../verification/passwordVerification";
import { type PlatformClient } from "./platformClient";

/** What the resources of one run depend on. */
export interface RunOptions extends SessionOptions {
  readonly platform: SessionOptions["platform"] &
    VerificationSession["options"]["platform"] &
    FlowControlSession["options"]["platform"];
  /** Password resets that one run may send; no limit if undefined. */
  readonly maxResets: () => number | undefined;
  readonly databaseHost: () => FoundSetting | undefined;
  /** Shows the user a line during the run. */
  readonly log: (line: string) => void;
}

/** What the resources of one run of the engine share. It lives as long as the host process. */
export class RunSession implements Session {
  readonly #rotations = new Map<string, Promise<unknown>>();
  readonly #owners = new Map<string, string>();
  readonly #fleets = new Map<string, FleetQueue>();
  /** The planned resets of each shard, by the URN of its fleet. */
  readonly #planned = new Map<string, Map<string, number>>();
  /** Calls that are under way, and what the finished ones reported, by group. */
  readonly #joints = new Map<string, { open: number; reports: unknown[] }>();
  #resets = 0;
  readonly declaredLimits: FlowControlLimitsSession["declaredLimits"] = new Map();

  constructor(readonly options: RunOptions) {}

  rotateOnce<T extends { readonly failed?: unknown }>(key: string, rotate: () => Promise<T>): Promise<T> {
    const known = this.#rotations.get(key);
    if (known) return known as Promise<T>;
    const result = rotate();
    this.#rotations.set(key, result);
    const forget = () => this.#rotations.delete(key);
    result.then(({ failed }) => failed !== undefined && forget(), forget);
    return result;
  }

  claim(subject: string, owner: string, otherOwners: readonly string[] | undefined): string | undefined {
    const other = otherOwners?.[0];
    const first = typeof other === "string" ? other : (this.#owners.get(subject) ?? owner);
    if (first !== owner) return first;
    this.#owners.set(subject, owner);
    return undefined;
  }

  fleet(urn: string, concurrency?: number | null, maxFailures?: number | null): FleetSession {
    const { platform } = this.options;
    // A missing setting fails here, once, instead of for each database.
    void platform.databases;
    const known = this.#fleets.get(urn);
    if (known) return known;
    const queue = platform.queueWithin(concurrency ?? undefined);
    const fleet = new FleetQueue(fleetName(urn), queue, maxFailures ?? Infinity, this.options);
    this.#fleets.set(urn, fleet);
    return fleet;
  }

  countPlanned(urn: string, shard: string, resets: number): number {
    const shards = (this.#planned.get(urn) ?? new Map<string, number>()).set(shard, resets);
    this.#planned.set(urn, shards);
    return [...shards.values()].reduce((sum, count) => sum + count, 0);
  }

  reserveReset(databaseId: string): () => void {
    const limit = this.options.maxResets() ?? Infinity;
    if (this.#resets >= limit) {
      throw new RefusedError("REKEY_RESET_LIMIT", {
        databaseId,
        why: `this run has already sent ${limit} resets, the limit set by rekey:maxResetsPerRun. Check that this many resets are intended, then raise the limit or run again`,
      });
    }
    this.#resets++;
    return () => {
      this.#resets--;
    };
  }

  join<T>(group: string): (reports: readonly T[]) => readonly T[] {
    const joint = this.#joints.get(group) ?? { open: 0, reports: [] };
    this.#joints.set(group, joint);
    joint.open++;
    return (reports) => {
      joint.reports.push(...reports);
      joint.open--;
      return joint.open === 0 ? (joint.reports.splice(0) as T[]) : [];
    };
  }
}

const progressIntervalMs = 5_000;

class FleetQueue implements FleetSession {
  #planned = 0;
  #done = 0;
  #failed = 0;
  #lastProgressAt: number;

  /**
   * @param queue limits the fleet's concurrency
   * @param maxFailures failures after which no further database is started
   */
  constructor(
    private readonly name: string,
    private readonly queue: RequestQueue,
    private readonly maxFailures: number,
    private readonly options: Pick<RunOptions, "now" | "log">,
  ) {
    this.#lastProgressAt = options.now().getTime();
  }

  async reset<T extends { readonly failed: boolean }>(reset: () => Promise<T>): Promise<T | undefined> {
    this.#planned++;
    return this.queue.runReset(async () => {
      if (this.#failed >= this.maxFailures) return undefined;
      const result = await reset();
      this.#done++;
      if (result.failed) this.#failed++;
      this.#logProgress();
      return result;
    }, false);
  }

  #logProgress(): void {
    const now = this.options.now().getTime();
    if (now - this.#lastProgressAt < progressIntervalMs) return;
    this.#lastProgressAt = now;
    const progress = `${this.#done} of ${this.#planned} tried, ${this.#failed} failed`;
    this.options.log(`PasswordRotationFleet ${JSON.stringify(this.name)}: ${progress}.`);
  }
}

/** How the session of an adapter differs from that of Pulumi's dynamic provider host. */
export interface SessionSources {
  /** The variables that settings may come from. Default: those of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The name of the explicit provider whose arguments are the configuration, for advice. Default: none. */
  readonly provider?: string | undefined;
  /** Shows the user a line during the run. Default: prints it to standard error. */
  readonly log?: RunOptions["log"];
  /** Aborted once the run ends. Default: never. */
  readonly runEnd?: AbortSignal;
}

/**
 * The session of a host process, with settings from the stack's configuration, else from the environment. The settings
 * and the HTTP client are loaded on first use: a run with nothing to do needs neither.
 */
export function sessionFromSettings(
  configuration: (key: string) => string | undefined,
  beforeReset: RequesterOptions["beforeReset"],
  {
    environment = process.env,
    provider,
    log = (line) => console.error(line),
    runEnd = new AbortController().signal,
  }: SessionSources = {},
): RunSession {
  // Each database that is read waits for it.
  setMaxListeners(0, runEnd);
  let settings: Settings | undefined;
  let client: PlatformClient | undefined;
  const getSettings = (): Settings => {
    if (settings) return settings;
    const { Settings } = require("../settings/settings") as typeof import("../settings/settings");
    return (settings = new Settings((name) => configuration(`rekey:${name}`), environment, provider));
  };
  return new RunSession({
    get platform() {
      if (client) return client;
      const { PlatformClient } = require("./platformClient") as typeof import("./platformClient");
      return (client = new PlatformClient(getSettings(), beforeReset));
    },
    canRead: () => getSettings().getOrDefault("databasePath") !== "none",
    deadlineMs: () => getSettings().getOrDefault("deadlineSeconds") * 1000,
    maxResets: () => getSettings().get("maxResetsPerRun"),
    databaseHost() {
      const all = getSettings();
      return all.get("databaseHost") === undefined ? undefined : all.find("databaseHost");
    },
    account() {
      try {
        return markAccount(getSettings().require("baseUrl"), getSettings().require("username"));
      } catch {
        return undefined;
      }
    },
    runEnd,
    now: () => new Date(),
    timer: { now: () => performance.now(), sleep },
    log,
  });
}
