import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { EngineError, messageOf, readable } from "./errors";

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the holder's process began, where the system tells: a later process may have got the same number. */
  readonly began: string | undefined;
}

/**
 * Takes the lock of a stack, which keeps a second operation out until it is released. A process that died does not hold
 * it.
 * @returns a function that releases it
 * @throws EngineError when somebody holds it, or when the folder cannot be written
 */
export function takeLock(path: string): () => void {
  const mine = `${path}.${process.pid}`;
  const me: Holder = { pid: process.pid, host: hostname(), began: beganAt(process.pid) };
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(mine, JSON.stringify(me));
  } catch (error) {
    const why = `the state folder cannot be written: ${messageOf(error)}`;
    throw new EngineError(`${why}. Nothing was changed: make it writable, or name another with --state-dir`, {
      cause: error,
    });
  }
  try {
    // A link appears with its content, or not at all: nobody reads half a lock.
    while (!tryLink(mine, path)) {
      const held = readText(path);
      if (held === undefined) continue;
      const holder = readable(`the lock ${path}`, "Remove it if no operation runs", () => readHolder(held));
      if (isAlive(holder)) {
        throw new EngineError(
          `the stack is locked by process ${holder.pid} on ${holder.host}, which is running an operation. ` +
            `Wait for it to end; if you know that it is gone, remove ${path}`,
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
  if (!Number.isInteger(pid) || typeof host !== "string") throw new Error("it names no process");
  return { pid: Number(pid), host, began };
}

/** Moves a dead process's lock away; if another process took it over meanwhile, puts that one's back. */
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
    throw new EngineError(`${why}. Nothing was changed: name a folder that has hard links with --state-dir`, {
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
  // The 22nd field; the 2nd, in parentheses, may hold spaces.
  return readText(`/proc/${pid}/stat`)?.split(") ").at(-1)?.split(" ")[19];
}
