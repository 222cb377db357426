import assert from "node:assert/strict";
import { type Done, type InterruptedStack, type Seen } from "./interruptedStack";
import { type Kill, type Subject } from "./subject";

/** A database, at the platform and in the state. */
interface Database {
  /** The name of its resource. */
  readonly resource: string;
  readonly resets: number;
  readonly password: string;
  /** What the state contains of it. */
  readonly saved:
    | {
        readonly rotationCount: number;
        readonly outcome: unknown;
        readonly password: string;
        readonly initError: boolean;
      }
    | undefined;
  /** The pending operations of its resource. */
  readonly pending: readonly string[];
}

export type Databases = ReadonlyMap<string, Database>;

/** Both sides of every database. The state must load. */
export async function see(interrupted: InterruptedStack, { ids, isFleet }: Subject): Promise<Databases> {
  const { resources, pending } = await interrupted.see();
  return new Map(
    ids.map((id) => {
      const { resets, password } = interrupted.stack.platform.database(id);
      const resource = isFleet ? "caches" : id;
      const { initError = false, outputs } = resources[resource] ?? {};
      const found = (isFleet ? memberIn(outputs, id) : outputs) as Partial<Database["saved"]>;
      const { rotationCount = 0, outcome, password: savedPassword = "" } = found ?? {};
      const saved = found && { rotationCount, outcome, password: savedPassword, initError };
      return [id, { resource, resets, password, saved, pending: pending[resource] ?? [] }];
    }),
  );
}

/** What the outputs of a fleet have of a database. */
function memberIn({ states, credentials, access = "{}" }: Seen["outputs"] = {}, id: string): object | undefined {
  const [state, values] = [states, credentials].map((all) => (all as Record<string, object> | undefined)?.[id]);
  const rotationCount = (JSON.parse(access as string) as Record<string, { count: number }>)[id]?.count;
  return state && { ...state, ...values, rotationCount };
}

/**
 * What must hold after a kill, once every process has ended.
 *
 * @param received the passwords that the program received, by database: the engine passes on only what it has saved
 * @returns how many resets are in the state, and how many were lost and so will be repeated
 */
export function assertAfterKill(
  before: Databases,
  after: Databases,
  { printed }: Done,
  received: ReadonlyMap<string, string>,
  { strike: { victim } }: Kill,
) {
  const counts = { saved: 0, repeated: 0 };
  for (const [id, now] of after) {
    const then = before.get(id);
    const resets = now.resets - (then?.resets ?? 0);
    const isSaved = now.saved !== undefined && now.saved.password !== then?.saved?.password;
    assert.ok(resets <= 1, `${id} was reset ${resets} times in one run`);
    if (isSaved) {
      assert.equal(resets, 1, `${id} has a new password in the state, and was not reset`);
      assert.equal(now.saved?.password, now.password, `${id} has another password in the state`);
      assert.equal(now.saved?.rotationCount, (then?.saved?.rotationCount ?? 0) + 1, `${id}'s count in the state`);
      assert.deepEqual(now.pending, [], `${id} is saved, and its operation is pending`);
    } else {
      assert.deepEqual(now.saved, then?.saved, `the state of ${id} is lost`);
      const operation = then?.saved ? "updating" : "creating";
      // The engine reports the failure of a resource whose provider was killed, instead of naming it in the state.
      const isReported = victim === "provider" && printed.includes(`${now.resource} **${operation} failed`);
      const isNamed = isReported || (now.pending.length === 1 && now.pending[0] === operation);
      assert.ok(resets === 0 || isNamed, `${id} was reset, and neither the state nor the output names it: ${printed}`);
    }
    const known = received.get(id);
    if (known !== undefined) assert.equal(now.saved?.password, known, `the program got an unsaved password of ${id}`);
    counts.saved += Number(isSaved);
    counts.repeated += resets - Number(isSaved);
  }
  return counts;
}

/** What must hold after one more, undisturbed `up`: the state and the platform agree, database by database. */
export function assertAfterNextUp(before: Databases, killed: Databases, after: Databases, { printed }: Done): void {
  for (const [id, now] of after) {
    const [then, middle] = [before.get(id), killed.get(id)];
    const wasSaved = middle?.saved?.password !== then?.saved?.password;
    const resets = now.resets - (middle?.resets ?? 0);
    const expected = wasSaved ? 0 : 1;
    assert.equal(resets, expected, `${id} was reset ${resets} times by the next up, not ${expected}: ${printed}`);
    const rotationCount = (then?.saved?.rotationCount ?? 0) + 1;
    assert.deepEqual(now.saved, { rotationCount, outcome: "reset", password: now.password, initError: false }, id);
    // An interrupted create stays pending until a person clears it; a repeated update is done.
    const interrupted = middle?.pending.filter((type) => type === "creating");
    assert.deepEqual(now.pending, interrupted, `pending operations of ${id}`);
  }
}
