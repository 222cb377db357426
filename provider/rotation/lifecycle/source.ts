import { type RekeyError } from "../../domain/errors";
import { type Subject } from "../../domain/secretKind";
import { type Credentials } from "../../records/fields";
import { type SecretResponse } from "../../records/secretResponse";
import { type Run } from "../../run/run";
import { type Admin } from "../program/admin";
import { type Finding, type StateChange } from "../messages/findings";
import { type Made } from "./handOver";
import { type Attempt, type Former, type Memory } from "../memory/memory";
import { type Context } from "../program/plan";
import { type Program } from "../program/program";
import { type AttemptedState, type State } from "../memory/state";

/**
 * Where a secret is: a platform or a server. If a response is lost, it reads in the same run whether the request was
 * applied. Its methods throw a RekeyError. They are called in the order read, retire (what must go first), add, prove,
 * retire, and are given what those before have returned: connections aside, a source keeps nothing between them.
 */
export interface Source {
  /**
   * Reads what is valid, and sends nothing that can change something. Settings that are missing or cannot be used are
   * found before anything is sent.
   *
   * @param saved undefined for a new resource
   */
  read(saved: State | undefined): Promise<ReadResult>;
  /** The state after a read. */
  afterRead(saved: State, readResult: ReadResult): StateChange;
  /** @throws SettingsError if a setting is missing without which nothing can be proven. Default: none is needed */
  requireSettings?(): void;
  /**
   * Makes a secret valid, in addition to the current one or in its place. It throws only if certainly nothing was made:
   * after a lost response, a read that shows nothing new makes that certain only if the request can be repeated.
   *
   * @param attempted the state with the attempt
   * @param readResult what the read before has shown; undefined if it cannot be read, or something was retired since
   */
  add(attempted: AttemptedState, readResult: ReadResult | undefined): Promise<Added>;
  /**
   * Proves that what was added is valid: by its use, by a read, or by the response itself. That it is not proven is a
   * result, which has what was delivered.
   */
  prove(attempted: AttemptedState, added: Added): Promise<Proof>;
  /** Reads, and retires former ones, never the current one. Default: what makes a new one retires the former one. */
  retire?(formers: readonly Former[], memory: RetirableMemory): Promise<Retired>;
  /** Saves the last change, if a restart of the server undoes it otherwise. Default: there is nothing to save. */
  save?(): Promise<RekeyError | undefined>;
}

/** The result of a read. */
export interface ReadResult extends SecretResponse {
  /** Of a user: the hashes of all passwords that are valid; undefined if they are not all shown. */
  readonly hashes?: readonly string[];
  /** Of a queue user: whether it has a next pair of tokens; undefined if that is not shown. */
  readonly hasNext?: boolean | undefined;
  /** Why the current one is not valid any more; undefined if it is, as far as it is known. */
  readonly goneReason?: string | undefined;
  /** Of a user: it is at another server than before, whose user of that name may be another one. */
  readonly isOtherServer?: boolean | undefined;
}

/** The result of `add`: a response, the reason why it is unknown whether a secret was made, or both. */
export type Added = AddedFacts &
  (
    | { readonly response: SecretResponse; readonly lost?: RekeyError | undefined }
    | { readonly response?: undefined; readonly lost: RekeyError }
  );

interface AddedFacts {
  /** Facts about the attempt, which are remembered until it is proven. */
  readonly attempt?: Partial<Attempt> | undefined;
  /** Facts that the source remembers from now on. */
  readonly kindFacts?: Partial<Memory["kindFacts"]> | undefined;
  /** Of a user: the hashes of the passwords that were valid before. */
  readonly hashesBefore?: readonly string[];
  readonly findings?: readonly Finding[] | undefined;
  /** Why the server has not saved it, which its restart would undo. */
  readonly unsaved?: RekeyError | undefined;
}

/** The proof that what was added is the current one, or why there is none. */
export type Proof =
  | { readonly made: Made; readonly findings: readonly Finding[] }
  | {
      readonly made?: undefined;
      /** Why it is not known, and what the next `up` does. */
      readonly failure: RekeyError;
      /** Credentials that may be current, and are nowhere else. */
      readonly delivered: Credentials;
      /** More facts about the attempt. */
      readonly attempt?: Partial<Attempt> | undefined;
      /** A read that has shown a secret of someone else's. */
      readonly foreignRead?: SecretResponse | undefined;
    };

/** The part of a memory that a retirement needs; a Retirement has it from `access`. */
export interface RetirableMemory {
  /** The salt of the marks. */
  readonly salt: string;
  /** The hash of the current password, without which the former ones are kept. Undefined if it is not certain. */
  readonly currentHash?: string | undefined;
  /** The value of the current credential, if it is known. */
  readonly current?: string | undefined;
}

export interface Retired {
  /**
   * `now`: they were valid until now. `already`: they were not valid any more. `kept`: nothing was sent, because it is
   * not known whether the current one is valid.
   */
  readonly result: "now" | "already" | "kept";
  /** Those that may still be valid. */
  readonly left: readonly Former[];
  /** Why some are left. */
  readonly failure?: RekeyError | undefined;
  /** Why the server has not saved what was retired, which its restart would undo. */
  readonly unsaved?: RekeyError | undefined;
  /** The hashes by which those that were retired are known if they become valid again. Default: they cannot. */
  readonly retiredHashes?: readonly string[] | undefined;
}

/** The secret, run and place that a source works with. */
export interface SourceContext {
  readonly subject: Subject;
  readonly run: Run;
  readonly context: Context;
  /** Undefined in a refresh and in a Retirement. */
  readonly program?: Program | undefined;
  /** The credentials that the reads of this run have shown, the last one last. */
  readonly reads: Credentials[];
  readonly place: Place;
}

/** Where a secret is changed or used. */
export interface Place {
  /** Of a user: its administrator. */
  readonly admin?: Admin | undefined;
  /** Of a queue user: the address of its queue. Default: `rekey:queueUrl`. */
  readonly queueUrl?: string | null | undefined;
}

/** One call of the engine about one secret. */
export interface Session extends SourceContext {
  readonly source: Source;
  /** The credentials that the rotations of this run have replaced, as far as they were known. */
  readonly replacedValues: Credentials[];
}
