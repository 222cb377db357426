import { type RekeyError } from "../domain/errors";
import { type SecretKind } from "../domain/secretKind";
import { type State } from "./state";

/** What a read or a response has shown, and is worth a line. */
export interface Finding {
  readonly kind: keyof typeof texts;
  /** Credentials, fields or problems. */
  readonly names?: readonly string[];
  /** Why, if it depends on the case. */
  readonly why?: string | undefined;
}

/** A state after a read or a response, and what is worth telling. */
export interface Learned {
  readonly state: State;
  readonly findings: readonly Finding[];
  /** Of signing keys: whether a read shows another key than the next one, so that someone else has rolled them. */
  readonly isForeign?: boolean;
}

/** What was done for one secret: what to save, and what to tell. */
export interface Rotated extends Omit<Learned, "isForeign"> {
  readonly failure?: RekeyError | undefined;
}

/** What texts depend on. `names` and `why` may be empty. */
type Details = Readonly<{ kind: SecretKind; names: string; why: string }>;

const newVersion = "If that does not help, set a new version, which resets it once more.";

/** The text of each finding. */
const texts = {
  /** A read settles a reset that was not confirmed. */
  settled: ({ kind, why }: Details) =>
    `was ${resetOrRolled(kind)}. The platform did not confirm it${why && ` (${why})`}, but a read now shows new credentials, so it did go through. They have been saved.`,
  drift: ({ names }: Details) =>
    `was changed outside of Rekey (${names}). The saved state has been updated.`,
  /** Some of the new credentials are not known. Their old values are not kept. */
  unknown: ({ names, why }: Details) =>
    `was changed, but Rekey does not know ${names || "the new value"}, because ${why || "the platform does not show it"}. If the platform can be read, a refresh reads it again. Until then, look it up in the platform's console. ${newVersion}`,
  /** A read proves nothing. */
  notCompared: ({ why }: Details) =>
    `was read, but could not be compared: ${why}. The saved credentials are unchanged.`,
  adopted: ({ why }: Details) =>
    `was adopted without credentials, because ${why}. Outputs that are not known stay empty until the next reset.`,
  tokenOnly: () =>
    "is not known, because the platform shows only a REST token. Use restUrl and restToken; connectionUrl is undefined.",
  problems: ({ names }: Details) =>
    `was changed, but parts of the platform's response could not be read (see the output problems): ${names}.`,
  /** The first of two rolls, or one of several resets of which it is unknown which one was applied. */
  older: ({ kind, why }: Details) =>
    kind.shape === "rolls"
      ? `was rolled, but its current key is still older than rotatedSince, or of unknown age. Give both keys to the receivers, then run \`up\` again after ${why} to roll a second time.`
      : "was reset, but an earlier reset that was not confirmed may have made it, so it may still be older than rotatedSince. The next `up` resets it once more.",
  /** Someone else has rolled a pair of keys between the read and the roll, or an earlier roll was applied late. */
  overtaken: () =>
    "was rolled more than once: its current key is not the next key that was known before. Receivers that still have the former pair reject every message: give them both keys now.",
  /** About two that are valid: up to `prepared`. */
  retired: ({ kind, why }: Details) =>
    `the former ${kind.word} was retired. Both had been valid since ${why}.`,
  partlyRetired: ({ kind, why }: Details) =>
    `only some of the former ${kind.word}s were retired. The oldest had been valid since ${why}.`,
  waits: ({ why }: Details) => `the rotation that is due is not made yet, because ${why}.`,
  back: ({ kind }: Details) =>
    `a former ${kind.word} that was retired is valid again: someone has added it, or the server was restarted with an old ACL file. It is retired again.`,
  pairLost: ({ kind }: Details) =>
    `the platform does not have the ${kind.word} that was handed out any more, and shows the former one. That is the current one again.`,
  /** A rotation makes another one former. */
  retiredFirst: ({ kind, why }: Details) =>
    `the older ${kind.word} was retired first. Both had been valid since ${why}.`,
  unknownAge: ({ kind }: Details) =>
    `the platform already had a next ${kind.word}, whose age is unknown. It is now handed out, because a queue user has only one next token. With rotatedSince, the next \`up\` retires the former ${kind.word} and rotates once more.`,
  prepared: ({ kind }: Details) =>
    `someone has prepared a next ${kind.word}, which is also valid. The first rotation hands it out.`,
  /** Values that are nowhere else. */
  kept: ({ names }: Details) =>
    `is still in the state, as a secret, despite saveCredentials: false (${names || "in encryptedCredentials"}), because no read has shown it, so it would be lost. To encrypt it instead, set encryptFor and a new version.`,
  failed: ({ why }: Details) => `${why} The saved state is unchanged.`,
  /** About a Redis user and its server. */
  note: ({ why }: Details) => why,
  warning: ({ why }: Details) => why,
};

/** Findings that are not warnings. */
const ordinary: readonly Finding["kind"][] = [
  "settled",
  "drift",
  "tokenOnly",
  "retired",
  "retiredFirst",
  "note",
];

export function messageOf(
  { kind: finding, names = [], why = "" }: Finding,
  kind: SecretKind,
): Message {
  return {
    text: texts[finding]({ kind, names: names.join(", "), why }),
    isWarning: !ordinary.includes(finding),
  };
}

/** A text about one secret, or about all of a fleet for which it is the same, without the subject. */
export interface Message {
  /** What an announcement begins with, before the secret: `Resets`. */
  readonly does?: string | undefined;
  readonly text: string;
  readonly isWarning?: boolean | undefined;
  /** The secrets whose reset it announces. */
  readonly secrets?: readonly (string | symbol)[] | undefined;
}

/** What happens to a secret of a kind: `reset`, `rolled` for keys, or `turned` for a trigger. */
export function resetOrRolled({ shape }: SecretKind): string {
  if (shape === "turns") return "turned";
  return shape === "rolls" ? "rolled" : "reset";
}
