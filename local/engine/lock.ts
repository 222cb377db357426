import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { EngineError, messageOf, readable } from "./errors";

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Start time of the process, if the system provides it: a later process may have the same id. */
  readonly began: string | undefined;
}

/**
 * Locks a stack, so that no other operation can run on it. The lock of a process that has ended is ignored.
 * @returns a function that releases the lock
 * @throws EngineError if another process holds the lock, or the folder is not writable
 */
export function takeLock(path: string): () => void {
  const mine = `${path}.${process.pid}`;
  const me: Holder = { pid: process.pid, host: hostname(), began: beganAt(process.pid) };
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(mine, JSON.stringify(me));
  } catch (error) {
    const why = `the state folder cannot be written: ${messageOf(error)}`;
    throw new EngineError(`${why}. Nothing was changed. Make it writable, or choose another with --state-dir`, {
      cause: error,
    });
  }
  try {
    // Creating a link is atomic, so the lock never has partial content.
    while (!tryLink(mine, path)) {
      const held = readText(path);
      if (held === undefined) continue;
      const holder = readable(`the lock ${path}`, "Remove it if no operation is running", () => readHolder(held));
      if (isAlive(holder)) {
        throw new EngineError(
          `the stack is locked by process ${holder.pid} on ${holder.host}, which is running an operation. ` +
            `Nothing was changed. Wait for it to end; if that process no longer exists, remove ${path}`,
        );
      }
      removeStale(path, held);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  return () => rmSync(path, { force: true });
}

function readHolder(text: string): Holder {
  const { pid, host, began } = JSON.parse(text) as Partial<Holder>;
  if (!Number.isInteger(pid) || typeof host !== "string") throw new Error("it does not name a process");
  return { pid: Number(pid), host, began };
}

/** Removes the lock of a dead process. If another process has taken it over in the meantime, restores that lock. */
function removeStale(path: string, held: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readText(aside) !== held) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    const why = `the stack cannot be locked: ${messageOf(error)}`;
    throw new EngineError(`${why}. Nothing was changed. Choose a folder that supports hard links with --state-dir`, {
      cause: error,
    });
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder): boolean {
  if (holder.host !== hostname()) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  const began = beganAt(holder.pid);
  return began === undefined || holder.began === undefined || began === holder.began;
}

function beganAt(pid: number): string | undefined {
  // The 22nd field. The 2nd, in parentheses, may contain spaces.
  return readText(`/proc/${pid}/stat`)?.split(") ").at(-1)?.split(" ")[19];
}
