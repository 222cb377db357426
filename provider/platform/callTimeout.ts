import { AsyncLocalStorage } from "node:async_hooks";

/** Milliseconds that one call of the engine allows for each of its requests, in addition to the deadline setting. */
export const callTimeout = new AsyncLocalStorage<number>();
