import { type FateName } from "./fates";
import { Play } from "./play";
import { plainUp, type Step } from "./steps";

const up = (...a: FateName[]): Step => ({ do: "up", meets: { a, b: [] }, ...plainUp });
const edit = (change: Extract<Step, { do: "edit" }>["change"]): Step => ({ do: "edit", name: "a", change });

/** Sequences that the model found and that once failed, and such as chance seldom comes by. */
const found: Record<string, readonly Step[]> = {
  "a version whose reset was not confirmed is answered by the next reset, though it was taken away meanwhile": [
    edit({ version: 2 }),
    up("500, done"),
    edit({ version: undefined }),
    up(),
    edit({ version: 2 }),
    up(),
  ],
  "a version that was answered and taken away asks for nothing when it comes back after an unconfirmed reset by schedule":
    [
      edit({ version: 1, rotateEvery: "12h" }),
      up(),
      edit({ version: undefined }),
      { do: "wait", hours: 13 },
      up("cut, done"),
      up(),
      edit({ version: 1 }),
      up(),
    ],
  "after three unconfirmed resets nothing is sent, however often it is asked for, until the version changes": [
    edit({ version: 1 }),
    up("cut, done"),
    up("500, not done"),
    up("a page"),
    up(),
    { do: "refresh" },
    up(),
    edit({ version: undefined }),
    up(),
    edit({ version: "1" }),
    { do: "wait", hours: 200 },
    up(),
    edit({ version: 2 }),
    up(),
  ],
};

describe("rotation under kill and repeat: sequences worth keeping", () => {
  for (const [what, steps] of Object.entries(found)) it(what, () => new Play().all(steps));
});
