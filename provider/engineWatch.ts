import { connect } from "node:net";
import { NotSentError } from "./api/errors/notSentError";
import { type RequestFacts } from "./api/errors/requestError";

/** Milliseconds to wait for the engine, which is on this machine. */
const patience = 5_000;

/**
 * Milliseconds for which a look counts, and so for which a reset may still be sent after the engine is gone: less than a
 * reset takes on a network. A look for each would cost as much as the reset itself.
 */
export const freshness = 10;

/** The last look at each engine. */
const looks = new Map<string, { readonly began: number; readonly listening: Promise<boolean> }>();

/**
 * Makes sure that the engine still listens. A host outlives an engine that was killed, and would go on sending resets
 * whose answers nobody saves.
 *
 * @throws NotSentError when it does not.
 */
export async function requireEngine(address: string, facts: RequestFacts): Promise<void> {
  const now = performance.now();
  let look = looks.get(address);
  if (!look || now - look.began > freshness) {
    look = { began: now, listening: listens(address) };
    looks.set(address, look);
  }
  if (!(await look.listening)) {
    throw new NotSentError(facts, "the engine that asked for it is gone, and could not save the answer", "Run again.");
  }
}

function listens(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port), timeout: patience });
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", end(true)).once("error", end(false)).once("timeout", end(false));
  });
}

/** The engine's address, which the host process was started with; undefined outside a host. */
export function engineAddress(): string | undefined {
  const argument = process.argv[2] ?? "";
  return /^(\[[0-9a-fA-F:]+\]|[\w.-]+):\d+$/.test(argument) ? argument : undefined;
}
