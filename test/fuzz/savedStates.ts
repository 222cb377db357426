import fc from "fast-check";
import { markTrigger } from "../../provider/rotation/trigger";
import { providerTexts } from "../support/host";
import { type Properties } from "../support/wire";
import { databaseId, tryParse } from "./answers";
import { asTheHostReads } from "./assertions";
import { hostileNames, smallValue } from "./hostile";

export const version = "7";
export const __provider = providerTexts.passwordRotation;
const mark = markTrigger({ version });
const common = { databaseId, rotationCount: 2, appliedTrigger: mark, __provider };
const lately = new Date().toISOString();

/** Valid states of a rotation whose trigger was applied: there is nothing to do. */
const answered: readonly Properties[] = [
  {
    ...common,
    outcome: "reset",
    rotatedAt: lately,
    rotationReason: "trigger",
    record: { databaseId, port: 1, primaryMembers: ["a"] },
    exactIntegers: {},
    problems: [],
    password: "p",
    otherFields: "{}",
  },
  { ...common, outcome: "adopted", adoptedAt: lately, rotationCount: 0 },
];

/** A state of a rotation that failed three times: nothing more is sent. */
const attempts = { attemptedTrigger: mark, unconfirmedResets: 3 };
const refused: Properties = { ...common, outcome: "unknown", ...attempts, rotatedAt: lately };

type Damage = (state: Properties) => Properties;

const keys = new Set([...answered, refused].flatMap((state) => Object.keys(state)));
const names = [...keys].filter((name) => name !== "__provider");
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.constantFrom(...names).map((name) => without(name)),
  fc.tuple(fc.constantFrom(...names, ...hostileNames), smallValue).map(
    ([name, json]): Damage =>
      (state) =>
        // An engine saves only JSON.
        tryParse(json) === undefined ? state : Object.fromEntries([...Object.entries(state), [name, tryParse(json)]]),
  ),
  // A text that was cut off, or to which something was added.
  fc
    .tuple(fc.constantFrom(...names), fc.nat(), fc.constantFrom("", " ", "0", "\n", "Z"))
    .map(([name, at, more]): Damage => (state) => {
      const value = state[name];
      return typeof value === "string" ? { ...state, [name]: value.slice(0, at % value.length) + more } : state;
    }),
  fc
    .tuple(fc.constantFrom(...names), fc.constantFrom(...names))
    .map(([from, to]): Damage => (state) => ({ ...state, [to]: state[from] ?? null })),
);

function isMark(text: unknown): boolean {
  return typeof text === "string" && /^1:[0-9a-f]{32}:[0-9a-f]{64}$/.test(text);
}

function without(name: string): Damage {
  return (state) => Object.fromEntries(Object.entries(state).filter(([key]) => key !== name));
}

/** A saved state that was damaged. What can still be read of it asks for no reset. */
export const damagedState: fc.Arbitrary<Properties> = fc
  .tuple(fc.constantFrom(...answered, refused), fc.array(damage, { minLength: 1, maxLength: 3 }))
  .map(([state, damages]) => asTheHostReads(damages.reduce((damaged, one) => one(damaged), state)))
  // A mark with a changed digit is the mark of another trigger; the damage cannot be detected.
  .filter((state) =>
    ["appliedTrigger", "attemptedTrigger"].every((name) => state[name] === mark || !isMark(state[name])),
  )
  // Attempts that were not counted to the end do ask for one more, and so does a trigger that is still to be applied.
  .filter(({ outcome, attemptedTrigger, unconfirmedResets }) => {
    if (attemptedTrigger !== mark) return true;
    if (outcome === "reset" || outcome === "adopted") return false;
    if (outcome !== "unknown") return true;
    return typeof unconfirmedResets === "number" && unconfirmedResets >= 3;
  });
