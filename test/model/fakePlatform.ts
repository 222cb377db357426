import { databaseRecord } from "../../local/platform/databaseRecord";
import { decideRetry, deliveryOfResponse, deliveryOfSilence } from "../../provider/platform/retry";
import { errorOf, type FailedAttempt } from "../../provider/platform/failures";
import { type ApiResponse, type ApiRequest, managementService, type Requester } from "../../provider/platform/http";
import { type ResetOutcome, type OutcomeName, outcomes } from "./outcomes";

/** A database as the platform has it now. The port in its record is its generation. The record contains credentials. */
export interface DatabaseState {
  readonly record: Record<string, unknown>;
}

export function passwordOf(databaseId: string, generation: number): string {
  return `password-of-${databaseId}-${generation}-`;
}

const service = managementService("https://platform.test", "user", "management-password");

/** A platform in memory. Whatever a reset meets is said beforehand; each reset that is applied is counted. */
export class FakePlatform implements Requester {
  readonly #generations = new Map<string, number>();
  /** Databases whose reset arrived and may have been applied, or was, in this run. */
  readonly delivered: string[] = [];
  /** All attempts that arrived in this run, by database. */
  readonly arrived: string[] = [];
  #coming = new Map<string, OutcomeName[]>();
  /** When the engine of this run ends; `now` while a request is under way. */
  engineEnds: "now" | "unsaved" | "saved" | undefined;
  #onKill: () => void = () => undefined;

  generation(databaseId: string): number {
    return this.#generations.get(databaseId) ?? 1;
  }

  /**
   * Begins a run: what its requests meet, by database; whatever comes after that is good. Resolves when the engine is
   * killed.
   */
  begin(coming: Readonly<Record<string, readonly OutcomeName[]>> = {}): Promise<"killed"> {
    this.#coming = new Map(Object.entries(coming).map(([id, list]) => [id, [...list]]));
    this.delivered.length = this.arrived.length = 0;
    this.engineEnds = undefined;
    return new Promise((resolve) => (this.#onKill = () => resolve("killed")));
  }

  /** Sends a request with the retries of the real requester, without waiting. */
  async send(request: ApiRequest): Promise<ApiResponse> {
    const { method, path, purpose, consequences, idempotent } = request;
    const facts = { method, purpose, consequences, url: service.baseUrl + path };
    const databaseId = path.split("/").at(-1) ?? "";
    for (let attempt = 1; ; attempt++) {
      const outcome: ResetOutcome = outcomes[this.#coming.get(databaseId)?.shift() ?? "good"];
      const database = this.#meet(databaseId, outcome);
      if (outcome.engineEnds !== undefined) this.engineEnds = outcome.engineEnds;
      if (outcome.verdict === "killed") {
        this.engineEnds = "now";
        this.#onKill();
        return new Promise(() => undefined);
      }
      const body = outcome.body?.(database) ?? `{"error":"it broke"}`;
      const { status, code, retryAfterMs } = outcome;
      const delivery = status !== undefined ? deliveryOfResponse(status) : deliveryOfSilence(outcome.arrives !== false);
      if (delivery === "responded") return { status: status ?? 200, body, facts };
      const failed: FailedAttempt = { delivery, body, ...defined({ status, code, retryAfterMs }) };
      const decision = decideRetry({ ...failed, idempotent, attempt, remainingMs: 60_000 }, 0.5);
      if (decision.do === "stop") throw errorOf(facts, service, [], { ...failed, attempts: attempt });
    }
  }

  #meet(databaseId: string, { arrives, applies, verdict }: ResetOutcome): DatabaseState {
    if (arrives !== false) this.arrived.push(databaseId);
    if (arrives !== false && verdict !== "refused" && verdict !== "again") this.delivered.push(databaseId);
    const generation = this.generation(databaseId) + (applies ? 1 : 0);
    this.#generations.set(databaseId, generation);
    const password = passwordOf(databaseId, generation);
    const credentials = { password, rest_token: `${password}rest`, read_only_rest_token: `${password}read` };
    return { record: { ...databaseRecord({ database_id: databaseId, port: generation }), ...credentials } };
  }
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
