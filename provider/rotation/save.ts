import { NotEncryptedError } from "../domain/errors";
import { secretOf, type Subject } from "../domain/secretKind";
import { type CredentialName, type Credentials } from "../records/fields";
import { jsonText } from "../pulumi/values";
import { type Run } from "../run/run";
import { urlsOf } from "./access";
import { encrypt } from "./ageFile";
import { marksOf, namesIn, saltedMark } from "./marks";
import { type Current, type Memory } from "./memory";
import { credentialsIn, type State, withoutValues } from "./state";
import { type Finding, type Learned, type Rotated } from "./findings";
import { type Session } from "./session";

/** What was saved, and what could not be. */
interface Saved {
  readonly state: State;
  readonly findings: readonly Finding[];
  readonly failure?: NotEncryptedError | undefined;
}

/**
 * A state with the values that are at hand, in the form in which they are to be saved: the only place where current
 * values leave a state, or are encrypted. A value leaves only if the age file has it, or if a read has shown it. If
 * nothing can be encrypted, the values stay, as secrets.
 */
export async function save(state: State, { subject, run, reads }: Session): Promise<Saved> {
  const file = await nextFile(state, subject, run);
  if (file instanceof NotEncryptedError) {
    const memory = withCurrent(state.memory, { form: {}, file: undefined });
    return {
      state: { ...state, memory, encryptedCredentials: undefined },
      findings: [],
      failure: file,
    };
  }
  const next = withoutSaved({ ...state, ...file }, reads);
  // What is still in the state although the program does not want it there is nowhere else.
  const isUnwanted = next.memory.current.form?.saveCredentials === false;
  const names = isUnwanted ? Object.keys(credentialsIn(next)) : [];
  return { state: next, findings: names.length > 0 ? [{ kind: "kept", names }] : [] };
}

export async function saveLearned(
  { state, findings }: Learned,
  session: Session,
): Promise<Rotated> {
  const saved = await save(state, session);
  return { ...saved, findings: [...findings, ...saved.findings] };
}

/** The age file of a state, and what is remembered of it. */
interface NextFile {
  readonly encryptedCredentials: string | undefined;
  readonly memory: Memory;
}

async function nextFile(
  state: State,
  subject: Subject,
  run: Run,
): Promise<NextFile | NotEncryptedError> {
  const { memory, encryptedCredentials } = state;
  const values = credentialsIn(state);
  const marks = Object.values(marksOf(memory, values));
  const unchanged: NextFile = { encryptedCredentials, memory };
  const none: NextFile = {
    encryptedCredentials: undefined,
    memory: withCurrent(memory, { file: undefined }),
  };
  const current = Object.values(memory.current.marks);
  const isOnlyInFile = current.some((mark) => isInFile(memory, mark) && !marks.includes(mark));
  const recipients = memory.current.form?.encryptFor;
  if (recipients === undefined) return none;
  // Another file would not have everything that is in this one.
  if (isOnlyInFile || isSameContent(memory, marks)) return unchanged;
  if (marks.length === 0) return none;
  const urls = urlsOf(subject, state, run);
  const facts = { [subject.kind.idInput]: subject.id, rotatedAt: state.rotatedAt };
  return encryptedFile(state, jsonText({ ...facts, ...values, ...urls }), recipients, subject);
}

async function encryptedFile(
  state: State,
  content: string,
  recipients: readonly string[],
  subject: Subject,
): Promise<NextFile | NotEncryptedError> {
  try {
    const file = await encrypt(content, recipients);
    const { memory } = state;
    const has = Object.values(marksOf(memory, credentialsIn(state)));
    const mark = saltedMark(memory.salt, file);
    return { encryptedCredentials: file, memory: withCurrent(memory, { file: { has, mark } }) };
  } catch (error) {
    return new NotEncryptedError({ secret: secretOf(subject) }, error);
  }
}

function isSameContent({ current: { file } }: Memory, marks: readonly string[]): boolean {
  return (
    file !== undefined &&
    file.has.length === marks.length &&
    marks.every((mark) => file.has.includes(mark))
  );
}

/** Whether the age file has a credential, under any name: after a roll, it has the current key as the next one. */
function isInFile({ current: { file } }: Memory, mark: string | undefined): boolean {
  return mark !== undefined && file !== undefined && file.has.includes(mark);
}

/** Whether a read has shown the current credential of this name. */
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
  // What an unconfirmed reset has delivered is nowhere else.
  const otherFields = memory.attempt ? state.otherFields : undefined;
  return { ...withoutValues(state, leaving), otherFields };
}

function withCurrent(memory: Memory, change: Partial<Current>): Memory {
  return { ...memory, current: { ...memory.current, ...change } };
}
