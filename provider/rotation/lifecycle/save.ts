import { isDeepStrictEqual } from "node:util";
import { NotEncryptedError } from "../../domain/errors";
import { secretOf } from "../../domain/secretKind";
import { type CredentialName, type Credentials } from "../../records/fields";
import { jsonText } from "../../pulumi/values";
import { urlsOf } from "../program/urls";
import { encrypt } from "../memory/ageFile";
import { marksOf, namesIn, saltedMark } from "../memory/marks";
import { type Current, type Memory } from "../memory/memory";
import { type Session } from "./source";
import { credentialsIn, type State, withoutValues } from "../memory/state";
import { type Finding, type StateChange, type RotationResult } from "../messages/findings";

/**
 * Saves the values that are at hand in the form in which they are to be saved: the only place where current values
 * leave a state, or are encrypted. A value leaves only if the age file has it, or if a read has shown it. If nothing
 * can be encrypted, the values stay, as secrets.
 */
export async function save(
  { state, findings }: StateChange,
  session: Session,
): Promise<RotationResult> {
  const filed = await withFile(state, session);
  if (filed instanceof NotEncryptedError) {
    const memory = changeCurrent(state.memory, { form: {}, file: undefined });
    const plain = { ...state, memory, encryptedCredentials: undefined };
    return { state: plain, findings, failure: filed };
  }
  const next = withoutSaved(filed, session.reads);
  return { state: next, findings: [...findings, ...keptIn(next)] };
}

/** The state with the age file of its current credentials, as far as their values are at hand. */
async function withFile(
  state: State,
  { subject, run }: Session,
): Promise<State | NotEncryptedError> {
  const { memory, rotatedAt } = state;
  const { marks, file, form } = memory.current;
  const values = credentialsIn(state);
  const has = Object.values(marksOf(memory, values));
  // Another file would not have everything that is in this one.
  const isOnlyInFile = (mark: string) => isInFile(memory, mark) && !has.includes(mark);
  if (Object.values(marks).some(isOnlyInFile)) return state;
  if (form?.encryptFor === undefined || has.length === 0) {
    const next = changeCurrent(memory, { file: undefined });
    return { ...state, encryptedCredentials: undefined, memory: next };
  }
  if (file && isDeepStrictEqual(new Set(file.has), new Set(has))) return state;
  const { kind, id } = subject;
  const urls = urlsOf(subject, state, run);
  const content = jsonText({ [kind.idInput]: id, rotatedAt, ...values, ...urls });
  try {
    const text = await encrypt(content, form.encryptFor);
    const mark = saltedMark(memory.salt, text);
    const next = changeCurrent(memory, { file: { has, mark } });
    return { ...state, encryptedCredentials: text, memory: next };
  } catch (error) {
    return new NotEncryptedError({ secret: secretOf(subject) }, error);
  }
}

/** True if the age file has a credential, under any name: after a roll, it has the current key as the next one. */
function isInFile({ current: { file } }: Memory, mark: string | undefined): boolean {
  return mark !== undefined && file !== undefined && file.has.includes(mark);
}

/** True if a read has shown the current credential of this name. */
export function isShown(
  memory: Memory,
  name: CredentialName,
  reads: readonly Credentials[],
): boolean {
  return reads.some((one) => marksOf(memory, one)[name] === memory.current.marks[name]);
}

/** The state without the values that are not to be in it, and are elsewhere. */
function withoutSaved(state: State, reads: readonly Credentials[]): State {
  const { memory } = state;
  // Without a form, after an import, the program is not known: no value is saved that a read can show.
  const { form, marks } = memory.current;
  if (form && form.saveCredentials !== false) return state;
  const saved = marksOf(memory, credentialsIn(state));
  const leaving = namesIn(marks).filter((name) => {
    const mark = marks[name];
    return saved[name] === mark && (isInFile(memory, mark) || isShown(memory, name, reads));
  });
  // Fields that an unconfirmed reset has delivered are nowhere else.
  const otherFields = memory.attempt ? state.otherFields : undefined;
  return { ...withoutValues(state, leaving), otherFields };
}

/** Values that are still in the state, although the program does not want them there: they are nowhere else. */
function keptIn(state: State): Finding[] {
  const { form, file } = state.memory.current;
  if (form?.saveCredentials !== false) return [];
  const names = Object.keys(credentialsIn(state));
  const isFileKept = file !== undefined && form.encryptFor === undefined;
  return names.length > 0 || isFileKept ? [{ kind: "kept", names }] : [];
}

function changeCurrent(memory: Memory, change: Partial<Current>): Memory {
  return { ...memory, current: { ...memory.current, ...change } };
}
