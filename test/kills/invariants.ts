import assert from "node:assert/strict";
import { type Kill } from "./kill";
import { type Databases, type Up } from "./scene";

/**
 * What must hold after a kill, once every process has ended.
 *
 * @returns how many resets are in the state, how many were lost and so will be repeated, and how many are pending
 */
export function holdAfterKill(before: Databases, after: Databases, { told }: Up, { victim }: Kill) {
  const counts = { saved: 0, repeated: 0, pending: 0 };
  for (const [id, now] of after) {
    const then = before.get(id);
    const resets = now.resets - (then?.resets ?? 0);
    const underWay = now.pending.slice(then?.pending.length ?? 0);
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
      if (resets === 1) assert.deepEqual(underWay, [operation], `${id} was reset, and the state does not name it`);
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
