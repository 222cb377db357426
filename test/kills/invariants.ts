import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { type Kill } from "./kill";
import { type Databases, type Up } from "./scene";

/**
 * What must hold after a kill, once every process has ended.
 *
 * @returns how many resets are in the state, how many were lost and so will be repeated, and how many are pending
 */
export function holdAfterKill(before: Databases, after: Databases, { told, printed }: Up, { victim }: Kill) {
  const counts = { saved: 0, repeated: 0, pending: 0 };
  for (const [id, now] of after) {
    const then = before.get(id);
    const resets = now.resets - (then?.resets ?? 0);
    const underWay = without(now.pending, then?.pending ?? []);
    const isSaved = now.saved !== undefined && now.saved.password !== then?.saved?.password;
    assert.ok(resets <= 1, `${id} was reset ${resets} times in one run`);
    if (isSaved) {
      assert.equal(resets, 1, `${id} has a new password in the state, and was not reset`);
      assert.equal(now.saved?.password, now.password, `${id} has another password in the state`);
      assert.equal(now.saved?.rotationCount, (then?.saved?.rotationCount ?? 0) + 1, `${id}'s count in the state`);
      assert.deepEqual(underWay, [], `${id} is saved, and is said to be under way`);
    } else {
      assert.deepEqual(now.saved, then?.saved, `what the state had of ${id} is lost`);
      const operation = then?.saved ? "updating" : "creating";
      // The CLI reports the failure of a resource whose provider was killed, instead of naming it in the state.
      const isReported = victim === "host" && printed.includes(`${now.resource} **${operation} failed`);
      const isNamed = isReported || isDeepStrictEqual(underWay, [operation]);
      assert.ok(resets === 0 || isNamed, `${id} was reset, and neither the state nor the output names it: ${printed}`);
      // The host and the engine live: the response must not be lost.
      if (victim === "program") assert.equal(resets, 0, `${id} was reset, but the response was not saved`);
    }
    const known = told.get(id);
    if (known !== undefined) assert.equal(now.saved?.password, known, `the program got an unsaved password of ${id}`);
    counts.saved += Number(isSaved);
    counts.repeated += resets - Number(isSaved);
    counts.pending += underWay.length;
  }
  return counts;
}

/** What must hold after one more, undisturbed `up`: the state and the platform agree, database by database. */
export function holdAfterNextUp(before: Databases, killed: Databases, after: Databases): void {
  for (const [id, now] of after) {
    const [then, middle] = [before.get(id), killed.get(id)];
    const wasSaved = middle?.saved?.password !== then?.saved?.password;
    const resets = now.resets - (middle?.resets ?? 0);
    assert.equal(resets, wasSaved ? 0 : 1, `${id} was reset ${resets} times by the next up; saved before: ${wasSaved}`);
    const rotationCount = (then?.saved?.rotationCount ?? 0) + 1;
    assert.deepEqual(now.saved, { rotationCount, outcome: "reset", password: now.password, initErrors: 0 }, id);
    // An interrupted create stays pending until a person clears it; a repeated update is done.
    const interrupted = middle?.pending.filter((type) => type === "creating");
    assert.deepEqual(now.pending, interrupted, `what is under way of ${id}`);
  }
}

/** The list without one occurrence of each of the others: an engine lists pending operations in any order. */
function without(list: readonly string[], others: readonly string[]): string[] {
  const left = [...list];
  for (const other of others) {
    const index = left.indexOf(other);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}
