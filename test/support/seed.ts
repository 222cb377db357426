import { randomInt } from "node:crypto";

/** The seed of the random choices. `REKEY_SEED` replays those of a run that printed it. */
export const seed = Number(process.env["REKEY_SEED"] ?? randomInt(2 ** 31));
