import { InputError, RekeyError, SettingsError } from "../domain/errors";
import { type SecretKind, type Subject } from "../domain/secretKind";
import { idProblem, isSameId, orUndefined } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import {
  type Claim,
  type Imported,
  type InputProblem,
  type Notice,
  type Planned,
  type Resource,
  type Result,
  type Schemas,
  type TableOf,
} from "../resource/resource";
import { type Run } from "../run/run";
import { type Settings } from "../settings/settings";
import { type Admin, savedAdmin, serverNames } from "./program/admin";
import { keyOf } from "./program/access";
import { announce, announcementsOf, noteRefresh, planSecret } from "./messages/announcements";
import { type RotationResult, messageOf } from "./messages/findings";
import { type State, stateIn } from "./memory/state";
import { readProgram, type RotationInputs } from "./program/program";
import { noticeAbout } from "./messages/messages";
import { willWait } from "./program/formers";
import { leftValid } from "./messages/formerFindings";
import { isChange, type Plan } from "./program/plan";
import { refresh, rotate } from "./lifecycle/lifecycle";
import {
  claimOf,
  connectionInput,
  intervalOf,
  overlapInput,
  queueUrlInput,
  rotationInputs,
  rotationProblems,
} from "./program/rotationInputs";
import { openSession } from "./sources/session";
import { type Place, type Source } from "./lifecycle/source";
import {
  changingOutputs,
  outputsOf,
  outputTable,
  plainResult,
  type RotationOutputs,
} from "./outputs/rotationOutputs";

/** The resource that rotates the secrets of one kind. */
export function rotationOf(kind: SecretKind): Resource<RotationInputs, RotationOutputs> {
  return new SecretRotation(kind);
}

export class SecretRotation implements Resource<RotationInputs, RotationOutputs> {
  readonly idInput: string;
  readonly onlyId?: string;
  readonly outputs: Resource<RotationInputs, RotationOutputs>["outputs"];
  readonly isSameId: (saved: string, given: string) => boolean = isSameId;
  /** Only of a kind that overlaps: a destroy of others leaves nothing to warn about. */
  readonly remove?: (saved: RotationOutputs, run: Run) => Promise<Notice[]>;

  constructor(protected readonly kind: SecretKind) {
    this.idInput = kind.idInput;
    if (kind.onlyId !== undefined) this.onlyId = kind.onlyId;
    this.outputs = outputTable(kind);
    if (kind.maxValid) this.remove = (saved, run) => this.#leave(saved, run);
  }

  readonly inputs: TableOf = (schemas) => {
    const ofKind = Object.fromEntries(
      (this.kind.inputs ?? []).map((name) => [name, kindInputs[name](schemas)]),
    );
    const ofId = this.onlyId === undefined ? { [this.idInput]: schemas.id } : {};
    return {
      required: Object.keys(ofId),
      schemas: { ...ofId, ...rotationInputs(schemas), ...ofKind },
    };
  };

  check(inputs: RotationInputs, run: Run): InputProblem[] {
    return rotationProblems(readProgram(inputs, this.kind), this.kind, run);
  }

  readonly claims: (inputs: RotationInputs, settings: Settings) => Claim[] = (inputs) => {
    const subject = this.subjectOf(inputs);
    return isUnknown(subject.id) ? [] : [claimOf(subject)];
  };

  plan(saved: RotationOutputs | undefined, inputs: RotationInputs, run: Run): Planned {
    const state = saved && savedState(saved, run);
    const program = readProgram(inputs, this.kind, run.options.settings.find("databaseHost"));
    const subject = this.subjectOf(inputs, state, program.admin);
    const { source } = openSession(subject, run, program, program);
    const planned = planSecret({ subject, state, program }, run);
    const { plan } = planned;
    if (state) {
      const { now } = planned.context;
      run.retirementOf(keyOfSecret(subject, state)).waits = willWait(
        state.memory,
        program,
        plan,
        now,
      );
    }
    const announced = announcementsOf(planned, run).flatMap((one) => announce(one, run));
    return {
      changes: isChange(plan),
      changing: state && changingOutputs(Object.keys(this.outputs), plan, state, program),
      notices: [
        ...announced.map((one) => noticeAbout(subject, one)),
        ...settingsNotice(subject, plan, run),
        ...(plan.kind === "rotate" ? proofNotice(subject, source) : []),
      ],
    };
  }

  async apply(
    saved: RotationOutputs | undefined,
    inputs: RotationInputs,
    run: Run,
  ): Promise<Result<RotationOutputs>> {
    const state = saved && savedState(saved, run);
    const program = readProgram(inputs, this.kind, run.options.settings.find("databaseHost"));
    const subject = this.subjectOf(inputs, state, program.admin);
    const rotated = await rotate(state, openSession(subject, run, program, program));
    try {
      return this.#resultOf(subject, rotated, run);
    } catch (error) {
      return plainResult(subject, rotated.state, error);
    }
  }

  async refresh(saved: RotationOutputs, run: Run): Promise<Result<RotationOutputs>> {
    try {
      const state = savedState(saved, run);
      const subject = this.subjectOf(saved, state);
      noteRefresh(subject, run);
      const { queueUrl } = state.memory.program;
      const session = openSession(subject, run, { admin: state.admin, queueUrl });
      return this.#resultOf(subject, await refresh(state, session), run);
    } catch (error) {
      if (!(error instanceof RekeyError)) throw error;
      return { outputs: saved, notices: [{ text: error.text, isWarning: true }] };
    }
  }

  /** A destroy changes nothing at the platform. It warns if it leaves two valid ones. */
  async #leave(saved: RotationOutputs, run: Run): Promise<Notice[]> {
    const { kind } = this;
    const state = orUndefined(() => stateIn(saved));
    if (!state) return [];
    const subject = this.subjectOf(saved, state);
    // With a second one, a delete of an earlier run has failed, or was not made.
    const [retires, ...others] = run.retirementOf(keyOfSecret(subject, state)).deleted;
    const left = leftValid(subject, state.memory, others.length > 0 ? undefined : retires);
    return left.map((one) => noticeAbout(subject, messageOf(one, kind)));
  }

  async import(id: string, run: Run): Promise<Imported<RotationInputs, RotationOutputs>> {
    const isOnly = id === this.onlyId ? undefined : `must be ${this.onlyId}`;
    const wrong = this.onlyId === undefined ? idProblem(id) : isOnly;
    if (wrong !== undefined) throw new InputError("id", wrong);
    const subject: Subject = { kind: this.kind, id };
    // It does not know the program, so no value is saved that a read can show.
    const program = readProgram({ initialRotation: false, saveCredentials: false }, this.kind);
    const rotated = await rotate(undefined, openSession(subject, run, program, program));
    const { state } = rotated;
    const current = { ...state.memory.current, form: undefined };
    const memory = { ...state.memory, applied: undefined, current };
    const { notices, outputs } = this.#resultOf(
      subject,
      { ...rotated, state: { ...state, memory } },
      run,
    );
    const ofId = this.onlyId === undefined && { [this.idInput]: id };
    const inputs = { ...ofId, initialRotation: false };
    return { inputs, outputs, notices: notices.filter(({ isWarning }) => isWarning) };
  }

  /** @param values inputs, or saved outputs */
  protected subjectOf(values: object, state?: State, admin?: Admin): Subject {
    const { [this.idInput]: id = "" } = values as Readonly<Record<string, string>>;
    const [server = serverNames(state?.memory.kindFacts.server)[0]] = serverNames(admin?.server);
    return { kind: this.kind, id: this.onlyId ?? id, server };
  }

  #resultOf(
    subject: Subject,
    { state, failure, findings }: RotationResult,
    run: Run,
  ): Result<RotationOutputs> {
    return {
      outputs: outputsOf(subject, state, Object.keys(this.outputs), run),
      failure,
      notices: findings.map((finding) => noticeAbout(subject, messageOf(finding, this.kind))),
    };
  }
}

/** The arguments that only some rotations have. */
const kindInputs = {
  connection: (schemas) => connectionInput(schemas).connection,
  minInterval: (schemas) => intervalOf(schemas, true),
  overlap: overlapInput,
  queueUrl: queueUrlInput,
} satisfies Record<NonNullable<SecretKind["inputs"]>[number], (schemas: Schemas) => unknown>;

/** The state of saved outputs, and the administrator, who is a part of `access`. */
function savedState(saved: RotationOutputs, run: Run): State & Pick<Place, "admin"> {
  const admin = savedAdmin(saved["access"], run.options.settings.find("databaseHost"));
  return { ...stateIn(saved), admin };
}

function keyOfSecret({ kind, id }: Subject, { memory }: State): string {
  return keyOf({ of: kind.name, id, salt: memory.salt });
}

/** Says once in a run that an `up` will fail for a missing setting: previews pass without credentials. */
export function settingsNotice({ kind }: Subject, plan: Plan, run: Run): Notice[] {
  return ["keep", "refuse"].includes(plan.kind) ? [] : run.settingsWarning(kind.service);
}

/** Says that an `up` will fail because a setting is missing without which a new secret could not be proven. */
function proofNotice(subject: Subject, source: Source): Notice[] {
  try {
    source.requireSettings?.();
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [noticeAbout(subject, { text: `\`up\` will fail: ${error.problem}.`, isWarning: true })];
  }
}
