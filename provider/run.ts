import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { RefusedError, type RequestFacts, SettingsError } from "./platform/errors";
import { type ListedRecord } from "./platform/accountList";
import { type FlowControl } from "./platform/flowControl";
import { type Permission } from "./platform/http";
import { type ProbeRequest, type ProbeResult } from "./platform/probe";
import { type KnownSecrets } from "./platform/redact";
import { type RequestQueue } from "./platform/requestQueue";
import { type Place, type SecretKind } from "./platform/secretKind";
import { type SecretOperations } from "./platform/secretOperations";
import { type FoundSetting } from "./settings/foundSetting";
import { type Preset } from "./settings/presets";
import { type Settings } from "./settings/settings";

/** The platform, as a run uses it. */
export interface Platform {
  /** The operations on secrets of one kind. @throws SettingsError if a setting is missing or cannot be used */
  operations(kind: SecretKind): Pick<SecretOperations, "reset" | "read">;
  /** Lists what has a secret of one kind. @throws SettingsError if a setting is missing or cannot be used */
  list(kind: SecretKind): Promise<ListedRecord[]>;
  /** @throws SettingsError if a setting is missing or cannot be used */
  readonly flowControl: FlowControl;
  /** Secrets that no message shows. */
  readonly secrets: KnownSecrets;
  /**
   * Makes the new token of a queue user that of this run, if Rekey reads its own token there.
   *
   * @param token undefined if it is to be read
   */
  useQueueToken(userId: string, token: string | undefined): void;
  /** Tries a credential once. */
  probe(request: ProbeRequest): Promise<ProbeResult>;
  /** A queue of no more requests at the same time than `rekey:maxConcurrency`. */
  queueWithin(concurrency?: number): RequestQueue;
  /** The same platform, whose requests fail after a time, if that is earlier than their deadline. */
  within(limitMs: number): Platform;
  /** The same platform, which may be changed. By default, it may only be read. */
  permitting(permission: Permission): Platform;
}

/** What a run is given. */
export interface RunOptions {
  /** Called when the platform is first needed. */
  readonly platform: () => Platform;
  /** Whether the platform has an operation that reads such a secret. @throws SettingsError for a wrong setting */
  readonly canRead: (kind: SecretKind) => boolean;
  /** Milliseconds for which a secret is read until the new one is shown. */
  readonly deadlineMs: () => number;
  /** Resets that one run may send; no limit if undefined. */
  readonly maxResets: () => number | undefined;
  /** @throws SettingsError if rekey:databaseHost cannot be used */
  readonly databaseHost: () => FoundSetting | undefined;
  /** @throws SettingsError if rekey:queueUrl is missing or cannot be used */
  readonly queueUrl: () => string;
  /** The token of the settings with which Rekey sends requests to the queue; undefined if it has none, or reads one. */
  readonly queueToken: () => string | undefined;
  /** Why requests to a service would fail before they are sent; undefined if their settings can be used. */
  readonly settingsProblem: (service: SecretKind["service"]) => string | undefined;
  /** Whether resets are made that only `rotateEvery` asks for. @throws SettingsError for a wrong setting */
  readonly scheduledResets: () => "on" | "off";
  /** What is known of the platform of `rekey:platform`. */
  readonly preset: () => Preset | undefined;
  /** The place of secrets of one kind; undefined if its settings are missing or cannot be used. */
  readonly place: (kind: SecretKind) => Place | undefined;
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

/** What is remembered for as long as the host process lives. */
interface Shared {
  readonly values: Map<unknown, unknown>;
  readonly owners: Map<string, string>;
  readonly announced: Set<string | symbol>;
  resets: number;
}

/** One run of the engine: what its resources share. */
export class Run {
  #platform: Platform | undefined;

  constructor(
    readonly options: RunOptions,
    private readonly memory: Shared = { values: new Map(), owners: new Map(), announced: new Set(), resets: 0 },
  ) {}

  /** It is made when it is first needed. */
  get platform(): Platform {
    return (this.#platform ??= this.options.platform());
  }

  /** A text as it may be shown: well-formed, and without the secrets that are known by now. */
  shown(text: string): string {
    return (this.#platform?.secrets.redact(text) ?? text).toWellFormed();
  }

  /** The same run for one call of the engine that may take less time. */
  within(limitMs: number): Run {
    return new Run({ ...this.options, platform: () => this.platform.within(limitMs) }, this.memory);
  }

  /**
   * The same run for one call of the engine that may change something: `resets` for a create or an update that is not a
   * preview, `limits` for a delete. All other calls may only read.
   */
  permitting(permission: Permission): Run {
    return new Run({ ...this.options, platform: () => this.platform.permitting(permission) }, this.memory);
  }

  /** Returns what was made with the same key in this run, or makes it. */
  shared<T>(key: unknown, make: () => T): T {
    const { values } = this.memory;
    if (!values.has(key)) values.set(key, make());
    return values.get(key) as T;
  }

  /** A warning, once in a run, that the requests to a service that are planned will fail because of its settings. */
  settingsWarning(service: SecretKind["service"]): { readonly text: string; readonly isWarning: true }[] {
    const problem = this.shared(`settings of ${service}`, () => ({ text: this.options.settingsProblem(service) }));
    const { text } = problem;
    problem.text = undefined;
    return text === undefined ? [] : [{ text: `\`up\` will fail: ${text}.`, isWarning: true }];
  }

  /**
   * Claims a secret or a key for a resource.
   *
   * @param owner the resource's URN
   * @returns the URN of the resource that has it; undefined if this one has it now
   */
  claim(subject: string, owner: string): string | undefined {
    const { owners } = this.memory;
    const first = owners.get(subject) ?? owner;
    owners.set(subject, first);
    return first === owner ? undefined : first;
  }

  /**
   * Counts announced resets, each secret once.
   *
   * @returns how many this run has announced with these, and how many it may send; undefined if all were announced
   * before
   */
  announce(
    secrets: readonly (string | symbol)[],
  ): { readonly count: number; readonly limit: number | undefined } | undefined {
    const { announced } = this.memory;
    const before = announced.size;
    for (const secret of secrets) announced.add(secret);
    return announced.size === before ? undefined : { count: announced.size, limit: this.options.maxResets() };
  }

  /**
   * Counts one reset against the run's limit. The returned function undoes that, for a reset that was not
   * made.
   *
   * @param secret what is to be reset: `password of database "sessions"`
   * @throws RefusedError if none is left
   */
  reserveReset(secret: string): () => void {
    const limit = this.options.maxResets() ?? Infinity;
    if (this.memory.resets >= limit) {
      const why =
        limit === 0
          ? "rekey:maxResetsPerRun is 0, so a run may send none. To keep it, set `initialRotation: false` on a new resource, or undo the change that resets it; to reset it, raise the limit"
          : `this run has already sent ${limit} ${limit === 1 ? "reset" : "resets"}, the limit set by rekey:maxResetsPerRun. Check that so many are intended, then raise the limit or run again`;
      throw new RefusedError("REKEY_RESET_LIMIT", { secret, why });
    }
    this.memory.resets++;
    return () => {
      this.memory.resets--;
    };
  }
}

/** What the run of an adapter is given beyond the configuration. */
export interface RunSources {
  /** Returns a setting of the configuration by its full name. */
  readonly configuration: (key: string) => string | undefined;
  /** Called before a reset or a credential is sent. @throws RequestError if the engine could not save the result */
  readonly requireEngine?: ((facts: RequestFacts) => Promise<void>) | undefined;
  /** The variables that settings may come from. Default: those of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The name of the explicit provider whose arguments are the configuration, for advice. Default: none. */
  readonly provider?: string | undefined;
  /** Shows the user a line during the run. Default: prints it to standard error until the run ends. */
  readonly log?: RunOptions["log"];
  /** Aborted once the run ends. Default: never. */
  readonly end?: AbortSignal;
}

/**
 * The run of a host process, with settings from the stack's configuration, else from the environment. The settings and
 * the HTTP client are loaded on first use: a run with nothing to do needs neither.
 */
export function startRun({
  configuration,
  requireEngine,
  environment = process.env,
  provider,
  end = new AbortController().signal,
  log = (line) => {
    if (!end.aborted) console.error(line);
  },
}: RunSources): Run {
  // Each database that is read waits for it.
  setMaxListeners(0, end);
  let settings: Settings | undefined;
  const getSettings = (): Settings => {
    if (settings) return settings;
    const { Settings } = require("./settings/settings") as typeof import("./settings/settings");
    return (settings = new Settings((name) => configuration(`rekey:${name}`), environment, provider));
  };
  const run: Run = new Run({
    platform: () => {
      const { PlatformClient } = require("./platformClient") as typeof import("./platformClient");
      return new PlatformClient(getSettings(), requireEngine);
    },
    canRead: ({ paths }) => paths !== undefined || getSettings().getOrDefault("databasePath") !== "none",
    deadlineMs: () => getSettings().getOrDefault("deadlineSeconds") * 1000,
    maxResets: () => getSettings().get("maxResetsPerRun"),
    databaseHost: () => {
      const all = getSettings();
      return all.get("databaseHost") === undefined ? undefined : all.find("databaseHost");
    },
    queueUrl: () => getSettings().require("queueUrl"),
    queueToken: () => {
      const all = getSettings();
      return all.find("queueUserId") ? undefined : all.find("queueToken")?.value;
    },
    settingsProblem: (service) => {
      try {
        getSettings().requireFor(service);
        return undefined;
      } catch (error) {
        return error instanceof SettingsError ? error.problem : undefined;
      }
    },
    scheduledResets: () => getSettings().getOrDefault("scheduledResets"),
    preset: () => getSettings().preset,
    place: ({ service, onlyId }) => {
      try {
        const all = getSettings();
        const isQueue = service === "queue";
        const address = all.require(isQueue ? "queueUrl" : "baseUrl");
        const account = hashOf(address, isQueue ? (all.get("queueUserId") ?? "") : all.require("username"));
        return onlyId === undefined ? { account } : { account, address };
      } catch {
        return undefined;
      }
    },
    clock: { now: () => new Date(), elapsedMs: () => performance.now(), sleep },
    end,
    log: (line) => log(run.shown(line)),
  });
  return run;
}

/** 48 bits of a hash: a fleet saves one for each database. */
function hashOf(address: string, user: string): string {
  return createHash("sha256")
    .update(JSON.stringify([address, user]))
    .digest("base64url")
    .slice(0, 8);
}
