import { newSecret } from "./secrets";
import { asSaved, type SavedTokenResource, type TokenResourceRecord, TokenResources } from "./tokenResources";

const defaultId = "00000000-0000-4000-8000-000000000001";

/** The users of the queue. The queue of this platform is that of the first user. */
export class QueueUsers extends TokenResources {
  readonly #first: string;

  /**
   * @param given ids, fields that override the sample values, or whole states; at least one
   * @param queueToken token of the first user, instead of the one in its state
   */
  constructor(
    given: readonly (string | TokenResourceRecord | SavedTokenResource)[] = [defaultId],
    queueToken?: string,
  ) {
    const users = given.map((user) => asSaved(user, sampleRecord));
    const [first, ...others] = users as [SavedTokenResource, ...SavedTokenResource[]];
    // Chosen here, so that restoring the users does not change it.
    const token = queueToken ?? first.token ?? newSecret();
    super("queue user", [{ ...first, token }, ...others]);
    this.#first = first.record.id;
  }

  /** The newest token of the queue. */
  get queueToken(): string {
    return this.all.get(this.#first)!.token;
  }

  /** Whether the queue accepts a token. */
  acceptsForQueue(token: string, isRead: boolean): boolean {
    return this.accepts(this.#first, token, isRead);
  }
}

function sampleRecord(id: string): TokenResourceRecord {
  return {
    id,
    customer_id: "owner@example.com",
    region: "eu-central-1",
    state: "active",
    creation_time: 1_752_451_200,
    max_parallelism: 10,
    max_global_parallelism: 100,
    max_requests_per_second: 100,
  };
}
