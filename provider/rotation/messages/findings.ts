import { type RekeyError } from "../../domain/errors";
import { type SecretKind } from "../../domain/secretKind";
import { type State } from "../memory/state";

/** A fact that a plan, a read or a response shows, and is worth a line. */
export interface Finding {
  readonly kind: keyof typeof notes | keyof typeof warnings;
  /** Inputs, credentials, fields or problems. */
  readonly names?: readonly string[];
  /** Why, since when or until when, if it depends on the case. */
  readonly why?: string | undefined;
}

/** A state after a read or a response, and what is worth telling. */
export interface StateChange {
  readonly state: State;
  readonly findings: readonly Finding[];
  /** Of signing keys: whether a read shows another key than the next one, so that someone else has rolled them. */
  readonly isForeign?: boolean;
}

/** The result for one secret: the state to save, and what to tell. */
export interface RotationResult extends Omit<StateChange, "isForeign"> {
  readonly failure?: RekeyError | undefined;
}

/**
 * The texts of findings that are not warnings, with `{word}`, `{verb}`, `{done}` and `{receiverDelay}` of the kind of
 * secret, and `{names}` and `{why}` of the finding: `{why|when it was sent}` has a default.
 */
const notes = {
  // Announcements of an `up`. It shows these before it acts and again afterwards, so they must be true at both times.
  maybe: "may be {done} (not known yet: {names}).",
  maybeOld: "may be {done}: `up` first reads its age and compares it with rotatedSince.",
  refused: "is not {done}: {why}.",
  refusedUntilRead:
    "is read first, and may then be {done}. If the read changes nothing, it is not {done}: {why}.",
  adopts: "is adopted, not {done}. To {verb} it, set a new version.",
  reads: "is read first.",
  readsFormer: "is read: the former {word} may still be valid. Nothing that consumers use changes.",
  saves: "the server has not saved the last change of its users: `up` sends ACL SAVE.",
  retiresForTime:
    "the former {word} is retired, if it is still valid, because its time is over (overlap: {why}).",
  retiresForDate:
    "the former {word} is retired, if it is still valid, because rotatedSince has asked for it: clients that still use it are refused.",
  retiresAgain: "the former {word}, which was retired and is valid again, is retired again.",
  bothSince: "More than one has been valid since {why}.",
  retiresAtEnd:
    "the former {word}, if it is still valid, is retired at the end of this `up`, after everything that uses the new one, and only if nothing fails.",
  retiresLater:
    "the former {word} stays valid after this `up`, because consumers did not have it from a Retirement. The next `up` retires it at its end.",
  retiresByTime: "the former {word} stays valid until {why}. The first `up` after that retires it.",
  mayRetire:
    "its Retirement may be replaced, because it is not known yet whether a former {word} will wait for it.",
  retiresOwn: "It is rekey:queueToken: the retirement fails until that is the new one.",

  // Why a rotation is due.
  because: "because",
  again:
    "the platform did not confirm that it was {done} ({why}), so the current credentials are not known.",
  unproven: "its first rotation is not finished: the new secret was not proven.",
  addedToFleet: "it is new in the fleet.",
  created: "the resource is new.",
  trigger: "version or triggers have changed.",
  schedule: "it is due by rotateEvery: it was last {done} or adopted at {why}.",
  rotatedSince: "it is older than rotatedSince: it was generated at {why}.",
  ofUnknownAge: "rotatedSince is set, and its age is not known.",

  // Additions to the announcement of a rotation.
  secondRoll:
    "It is not known when they were last rolled: a second roll within {receiverDelay} causes an outage, because receivers do not have the keys of the first one yet.",
  toKeep: "To keep it, set `initialRotation: false`.",
  toKeepOld: "To keep it, set `initialRotation: false`, and remove rotatedSince.",
  toRename: "If it was only renamed, use the option `aliases`.",
  readsFirst:
    "It is read first: if the read shows that the last attempt was applied, its result is saved instead.",
  retiresOlder: "Any older {word} that is still valid, and due to be retired, is retired first.",
  retiresOlderForDate:
    "If two {word}s are still valid, the older one is retired first: clients that still use it are refused.",
  waitsForOlder: "Unless an older {word} was retired meanwhile, the rotation waits.",
  keepsOlder: "Any older {word} that is still valid also stays valid.",
  replacesFormer:
    "What was valid before is replaced at once: clients are refused until they have the new one.",
  keepsFormer: "The former {word} stays valid {why}.",
  keepsSeveral: "The {word}s that were valid before stay valid {why}.",
  firstRetirement:
    "The first retirement removes all passwords that the user had before its first rotation.",

  // Facts, while nothing is rotated.
  imported: "was imported. Its version and triggers are adopted, and nothing is reset.",
  formKept:
    "is still saved as before: changes to saveCredentials and encryptFor take effect with the next rotation. To remove what is saved now, set a new version.",
  nextRotation: "is due soon by rotateEvery: the first `up` from {why} on {verb}s it.",
  keepsLater: "after a rotation, the former {word} stays valid until a Retirement retires it.",
  noPassword: "the user has no password.",
  onePassword: "the user has 1 password that Rekey did not make. The first retirement removes it.",

  // Past events.
  leavesFormer:
    "the former {word} has been valid, too, since {why}, and is not retired yet. A destroy leaves it valid.",
  /** A read settles a reset that was not confirmed. */
  settled:
    "was {done}. The platform did not confirm it ({why|when it was sent}), but a read now shows new credentials, so it did go through. They have been saved.",
  drift: "was changed outside of Rekey ({names}). The saved state has been updated.",
  tokenOnly:
    "is not known, because the platform shows only a REST token. Use restUrl and restToken; connectionUrl is undefined.",
  retiredAtEnd: "each former {word} that waited for its Retirement was retired.",
  retiredAndRefused: "the former {word} was retired; it is refused now.",
  retired: "the former {word} was retired. More than one had been valid since {why}.",
  /** A rotation makes another one former. */
  retiredFirst: "the older {word} was retired first. More than one had been valid since {why}.",
};

/** The texts of findings that are warnings. */
const warnings = {
  // Announcements of what an `up` will do, or will not do yet.
  isDue: "is due to be {done}, because",
  postponed: "It is postponed: {why}.",
  handsOutCurrent: "Until its first rotation, the current {word} is handed out.",
  handsOutNone: "Until its first rotation, no {word} is handed out.",
  renamed: "is already in the state. If you renamed the resource, use the option `aliases`.",
  elsewhere: "may belong to another account, and is not compared: {why}.",
  otherServer:
    "may be at another server: admin has another name or address than before. If the user there does not have the current password, this is its first rotation: the first retirement removes all passwords that it has there.",
  retirementIsDue:
    "the former {word}, if it is still valid, is due to be retired (overlap: {why}).",
  passwords:
    "the user has {why} passwords that Rekey did not make. The first retirement removes all of them: find out first which clients use them.",
  future:
    "was last changed at {why} according to the saved state, which is later than this machine's clock. Check the clocks.",
  plainText:
    "clients send the password in plain text (connection.tls: false). Do that only in a network that no one else can read.",
  ignoresTime: "minInterval ignores that time.",
  schedulesFrom: "rotateEvery counts from that time; a new version {verb}s it now.",
  overlapsFrom: "overlap counts from that time; rotatedSince retires the former one now.",
  leftFormer:
    "two {word}s may stay valid (since {why}). To remove the former one, once no client uses it: {names}.",
  leftUnproven:
    "a new {word} that was added at {why}, and was never handed out, may stay valid. To remove it: {names}.",

  // Past events.
  sameCredential:
    "the Retirement hands over what it handed over before, although the {word} has changed. If that is the former {word}, consumers are refused at the end of this `up`: cancel it, give `credential` an output of the rotation, and do not ignore its changes.",
  mayStay:
    "the former {word} may stay valid, because this run has not retired it: a Retirement retires at the end of an `up` that has created or kept it.",
  /** Some of the new credentials are not known. Their old values are not kept. */
  unknown:
    "was changed, but Rekey does not know {names|the new value}, because {why|the platform does not show it}. If the platform can be read, a refresh reads it again. Until then, look it up in the platform's console. If that does not help, set a new version, which {verb}s it once more.",
  /** A read proves nothing. */
  notCompared: "was read, but could not be compared: {why}. The saved credentials are unchanged.",
  adopted:
    "was adopted without credentials, because {why}. Outputs that are not known stay empty until it is {done}.",
  problems:
    "was changed, but parts of the platform's response could not be read (see the output problems): {names}.",
  /** The first of two rolls, or one of several resets of which it is unknown which one was applied. */
  older:
    "was {done}, but an earlier run may have made it, so it may still be older than rotatedSince. The next `up` {verb}s it once more.",
  olderKeys:
    "was rolled, but its current key is still older than rotatedSince, or of unknown age. Give both keys to the receivers, then run `up` again after {why} to roll a second time.",
  /** Someone else has rolled a pair of keys between the read and the roll, or an earlier roll was applied late. */
  overtaken:
    "was rolled more than once: its current key is not the next key that was known before. Receivers that still have the former pair reject every message: give them both keys now.",
  waits: "the rotation that is due is not made yet, because {why}.",
  back: "a former {word} that was retired is valid again: someone has added it, or the server was restarted with an old ACL file. It is retired again.",
  backInstead:
    "a former {word} that was retired is valid again, while the current one is not. It stays valid until after the next rotation.",
  unknownAge:
    "the platform already had a next {word}, whose age is unknown. It is now handed out, because a queue user has only one next token.",
  prepared:
    "someone has prepared a next {word}, which is also valid. The first rotation hands it out.",
  /** Values that are nowhere else. */
  kept: "is still in the state, as a secret, despite saveCredentials: false ({names|in encryptedCredentials}), because no read has shown it, so it would be lost. To encrypt it instead, set encryptFor and a new version.",
  failed: "{why} The saved state is unchanged.",
  warning: "{why}",
};

const texts = { ...notes, ...warnings };

/** A text about one secret, or about all of a fleet for which it is the same, without the subject. */
export interface Message {
  /** Its subject: of a fleet, those about the same are one line. */
  readonly about: string;
  /** The beginning of an announcement, before the secret: `Resets`. */
  readonly does?: string | undefined;
  readonly text: string;
  readonly isWarning?: boolean | undefined;
  /** The secrets whose rotation it announces. */
  readonly secrets?: readonly (string | symbol)[] | undefined;
}

/** The message of a finding, or of several, each of which is a sentence of it. */
export function messageOf(finding: Finding | readonly Finding[], kind: SecretKind): Message {
  const all = [finding].flat();
  const { word, verb, done, receiverDelay } = kind;
  const sentences = all.map(({ kind: found, names = [], why }) => {
    const details = new Map(
      Object.entries({ word, verb, done, receiverDelay, names: names.join(", "), why }),
    );
    return texts[found].replace(
      /\{(\w+)\|?([^}]*)\}/g,
      (_, name: string, byDefault: string) => details.get(name) || byDefault,
    );
  });
  return {
    about: all.map((one) => one.kind).join(" "),
    text: sentences.join(" "),
    isWarning: all.some((one) => one.kind in warnings),
  };
}
