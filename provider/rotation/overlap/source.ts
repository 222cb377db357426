import { type ProbeResult } from "../../clients/probe";
import { type RekeyError } from "../../domain/errors";
import { type Subject } from "../../domain/secretKind";
import { type Credentials } from "../../records/fields";
import { type Run } from "../../run/run";
import { type Desired } from "../desired";
import { type Finding, type Learned } from "../findings";
import { type Marks } from "../marks";
import { type Context } from "../plan";
import { type Overlap, type State } from "../state";
import { type AdminInput } from "../userMemory";

/**
 * A server or a platform with a secret of which two may be valid at once. If a response is lost, it reads in the same
 * run whether the request was applied. Its methods throw a RekeyError.
 */
export interface OverlapSource {
  /**
   * Reads what is valid, and compares it with what is saved. In the state that it returns, `memory.overlap` is set only
   * if the former secret is valid, or not shown. Settings that are missing or cannot be used are found before anything
   * is sent.
   *
   * @param saved undefined for a new resource, whose secret is adopted
   */
  read(saved: State | undefined, desired: Desired): Promise<Learned>;
  /** @throws SettingsError if a setting is missing without which nothing can be proven. Default: none is needed */
  requireSettings?(): void;
  /**
   * Makes another secret valid. Repeated with the same value, it changes nothing more.
   *
   * @param state after the last read
   */
  add(state: State): Promise<Added>;
  /** Tries it on a new connection. */
  prove(added: Added): Promise<ProbeResult>;
  /**
   * Saves the last change, if a restart of the server undoes it otherwise. Default: there is nothing to save.
   *
   * @returns why it failed
   */
  save?(): Promise<RekeyError | undefined>;
  /** Makes the former one invalid. It can never make the current one invalid. */
  retire(retirement: Retirement): Promise<Retired>;
}

/** A secret that was made valid in addition to the current one. */
export interface Added {
  readonly credentials: Credentials;
  /** The marks of what was current until now, as far as they are known. */
  readonly before: Marks;
  /** What retires that: `hashes` of the new overlap. */
  readonly hashes: readonly string[];
  /** Of a password, the hash by which it is removed if it cannot be proven. */
  readonly unprovenHash?: string | undefined;
  /** Of a password, the hash by which the server lists it; undefined if that is not certain. */
  readonly hash?: string | undefined;
  /** Whether it was valid before, so that its age is not known. */
  readonly isOfUnknownAge?: true | undefined;
  /** Why it is unknown whether it was added, until a proof shows it. */
  readonly lost?: RekeyError | undefined;
  /** Why the run fails although it was added. */
  readonly failure?: RekeyError | undefined;
  readonly findings?: readonly Finding[];
}

/** The secret that is to be retired, as a rotation and a verification know it. */
export interface Retirement extends Pick<Overlap, "hashes"> {
  /** The salt of the marks. */
  readonly salt: string;
  /** The mark of the former one. */
  readonly former?: string | undefined;
  /**
   * The hash of the current password, without which the former one is kept. Undefined if the current one has just been
   * proven, as by a verification.
   */
  readonly current?: string | undefined;
}

export interface Retired {
  /** `already`: it was not valid any more. `kept`: it stays valid, because the current one is not. */
  readonly result: "now" | "already" | "kept";
  /** Why the run fails although it is not valid any more. */
  readonly failure?: RekeyError | undefined;
}

/** What a source works with. */
export interface SourceContext {
  readonly subject: Subject;
  readonly run: Run;
  readonly context: Context;
  /** What the reads of this run have shown, the last one last. */
  readonly reads: Credentials[];
  readonly place: Place;
}

/** Where a secret is changed or used, as the program gives it. */
export interface Place {
  /** Of a user: its administrator. */
  readonly admin?: AdminInput | null | undefined;
  /** Of a queue user: the address of its queue. Default: `rekey:queueUrl`. */
  readonly queueUrl?: string | null | undefined;
}

export function retirementOf({ memory }: State, overlap: Overlap): Retirement {
  const { hashes } = overlap;
  const { salt, replaced, user } = memory;
  return { hashes, salt, former: replaced?.mark, current: user?.hash };
}
