import { databaseRecord } from "../../local/platform/databaseRecord";
import { decideRetry, deliveryOfFailure } from "../../provider/platform/retry";
import { errorOf, type FailedAttempt } from "../../provider/platform/failures";
import { type ApiResponse, type ApiRequest, factsOf, isIdempotent, type Requester } from "../../provider/platform/http";
import { KnownSecrets } from "../../provider/platform/redact";
import { type Late, type ResetOutcome, type OutcomeName, outcomes } from "./outcomes";
import {
  type Credential,
  type Credentials,
  type Delivery,
  goodReads,
  type ReadOutcome,
  readOutcomes,
  type Reads,
} from "./reads";

/** A database as the platform has it now. The port in its record is its generation. The record contains credentials. */
export interface DatabaseState {
  readonly record: Record<string, unknown>;
}

export function passwordOf(databaseId: string, generation: number): string {
  return `password-of-${databaseId}-${generation}-`;
}

/** The given credentials of a generation. */
export function credentialsOf(databaseId: string, generation: number, names: readonly Credential[]): Credentials {
  const password = passwordOf(databaseId, generation);
  const all = { password, restToken: `${password}rest`, readOnlyRestToken: `${password}read` };
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

/** A platform in memory. The outcome of each request is given beforehand. Each reset that is applied is counted. */
export class FakePlatform implements Requester {
  readonly secrets = new KnownSecrets([]);
  readonly #generations = new Map<string, number>();
  /** Databases whose reset arrived and may have been applied, or was, in this run. */
  readonly delivered: string[] = [];
  /** All attempts that arrived in this run, by database. */
  readonly arrived: string[] = [];
  /** Databases that were read in this run. */
  readonly read: string[] = [];
  delivery: Delivery = "always";
  #queued = new Map<string, OutcomeName[]>();
  #reads = new Map<string, Reads>();
  /** Resets that are not applied yet, by database. */
  readonly #late = new Map<string, Required<Late>>();
  /** When the engine of this run ends; `now` while a request is under way. */
  engineEnds: "now" | "unsaved" | "saved" | undefined;
  #onKill: () => void = () => undefined;

  generation(databaseId: string): number {
    return this.#generations.get(databaseId) ?? 1;
  }

  /**
   * Begins a run with the outcomes of its requests, by database. Further requests succeed. Resolves when the engine is
   * killed.
   */
  begin(
    queued: Readonly<Record<string, readonly OutcomeName[]>> = {},
    reads: Readonly<Record<string, Reads>> = {},
  ): Promise<"killed"> {
    this.#queued = new Map(Object.entries(queued).map(([id, list]) => [id, [...list]]));
    this.#reads = new Map(Object.entries(reads));
    this.delivered.length = this.arrived.length = this.read.length = 0;
    this.engineEnds = undefined;
    return new Promise((resolve) => (this.#onKill = () => resolve("killed")));
  }

  /** Ends a run. */
  end(): void {
    for (const [databaseId, { reads, runs }] of this.#late) {
      if (runs === 0) this.#applyLate(databaseId);
      else this.#late.set(databaseId, { reads, runs: 0 });
    }
  }

  /** Someone replaces the credentials. */
  change(databaseId: string): void {
    this.#applyLate(databaseId);
    this.#generations.set(databaseId, this.generation(databaseId) + 1);
  }

  /** The passwords that it accepts, now or once a late reset is applied. */
  passwordsOf(databaseId: string): readonly string[] {
    const generation = this.generation(databaseId);
    const next = this.#late.has(databaseId) ? [generation + 1] : [];
    return [generation, ...next].map((one) => passwordOf(databaseId, one));
  }

  #applyLate(databaseId: string): void {
    if (this.#late.delete(databaseId)) this.#generations.set(databaseId, this.generation(databaseId) + 1);
  }

  /** Sends a request with the retries of the real requester, without waiting. */
  async send(request: ApiRequest): Promise<ApiResponse> {
    const { method, path } = request;
    const facts = factsOf(request, "https://platform.test");
    const service = "management";
    const databaseId = path.split("/").at(-1) ?? "";
    for (let attempt = 1; ; attempt++) {
      const [outcome, database] = method === "GET" ? this.#receiveRead(databaseId) : this.#receive(databaseId);
      if ("engineEnds" in outcome) this.engineEnds = outcome.engineEnds;
      if ("kills" in outcome || ("verdict" in outcome && outcome.verdict === "killed")) {
        this.engineEnds = "now";
        this.#onKill();
        return new Promise(() => undefined);
      }
      const body = outcome.body?.(database) ?? `{"error":"it broke"}`;
      const { status, code, retryAfterMs } = outcome;
      if (status !== undefined && status < 300) {
        return { status, body, facts, service, connection: { isReused: false, isRecognized: false } };
      }
      const delivery =
        status !== undefined ? deliveryOfFailure(status) : outcome.arrives === false ? "not sent" : "maybe applied";
      const failed: FailedAttempt = { delivery, body, ...defined({ status, code, retryAfterMs }) };
      const retry = decideRetry({ ...failed, idempotent: isIdempotent(request), attempt, remainingMs: 60_000 }, 0.5);
      if (!retry) throw errorOf(facts, service, { ...failed, attempt }, this.secrets);
    }
  }

  #receive(databaseId: string): [ResetOutcome, DatabaseState] {
    const outcome: ResetOutcome = outcomes[this.#queued.get(databaseId)?.shift() ?? "good"];
    const { arrives, applies, verdict } = outcome;
    if (arrives !== false) this.arrived.push(databaseId);
    if (arrives !== false && verdict !== "refused" && verdict !== "again") this.delivered.push(databaseId);
    if (arrives !== false) this.#applyLate(databaseId);
    const generation = this.generation(databaseId) + (applies ? 1 : 0);
    if (typeof applies === "object") this.#late.set(databaseId, { reads: Infinity, ...applies });
    else this.#generations.set(databaseId, generation);
    return [outcome, this.#show(databaseId, outcome.repeats ? generation - 1 : generation, "once")];
  }

  #receiveRead(databaseId: string): [ReadOutcome, DatabaseState] {
    const isAfter = this.arrived.includes(databaseId);
    const { before, after } = this.#reads.get(databaseId) ?? goodReads;
    const outcome: ReadOutcome = readOutcomes[isAfter ? after : before];
    this.read.push(databaseId);
    const nth = this.read.filter((one) => one === databaseId).length;
    if (nth <= (outcome.failsFirst ?? 0)) return [{ status: 500 }, { record: {} }];
    const late = this.#late.get(databaseId);
    if (late?.reads === 0) this.#applyLate(databaseId);
    else if (late) this.#late.set(databaseId, { ...late, reads: late.reads - 1 });
    return [outcome, this.#show(databaseId, this.generation(databaseId), "read")];
  }

  /** A response, with credentials if the platform delivers them so. */
  #show(databaseId: string, generation: number, how: "once" | "read"): DatabaseState {
    const record = { ...databaseRecord({ database_id: databaseId, port: generation }) };
    if (this.delivery !== how && this.delivery !== "always") return { record };
    const password = passwordOf(databaseId, generation);
    const tokens = { rest_token: `${password}rest`, read_only_rest_token: `${password}read` };
    return { record: { ...record, password, ...tokens } };
  }
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
