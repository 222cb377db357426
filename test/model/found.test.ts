import { Play } from "./play";
import { plainUp, type Step } from "./steps";

/** Sequences that the model found, and that once failed. */
const found: Record<string, readonly Step[]> = {
  "a version whose reset was not confirmed is answered by the next reset, though it was taken away meanwhile": [
    { do: "edit", name: "a", change: { version: 2 } },
    { do: "up", meets: { a: ["500, done"], b: [] }, ...plainUp },
    { do: "edit", name: "a", change: { version: undefined } },
    { do: "up", meets: { a: [], b: [] }, ...plainUp },
    { do: "edit", name: "a", change: { version: 2 } },
    { do: "up", meets: { a: [], b: [] }, ...plainUp },
  ],
};

describe("rotation under kill and repeat: what was found before", () => {
  for (const [what, steps] of Object.entries(found)) it(what, () => new Play().all(steps));
});
