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
 * Where a secret is of which two may be valid at once. It settles a lost response by reads in the same run. Its
 * methods throw a RekeyError.
 */
export interface OverlapSource {
  /** Settings that are missing or cannot be used are found before anything is sent. */
  requireSettings(): void;
  /**
   * Reads what is valid, and compares it with what is saved. The overlap that it leaves in the memory is one whose
   * former secret is valid, or hidden.
   *
   * @param saved undefined for a new resource, whose secret is adopted
   */
  read(saved: State | undefined, desired: Desired): Promise<Learned>;
  /**
   * Makes another secret valid. Repeated with the same value, it changes nothing more.
   *
   * @param state after the last read
   */
  add(state: State): Promise<Added>;
  /** Tries it on a connection of its own. */
  prove(added: Added): Promise<ProbeResult>;
  /** Makes the former one invalid, which cannot make the current one invalid. */
  retire(retirement: Retirement): Promise<Retired>;
}

/** A secret that was made valid in addition to the current one. */
export interface Added {
  readonly credentials: Credentials;
  /** The marks of what was current until now, as far as they are known. */
  readonly before: Marks;
  /** What retires that: `hashes` of the overlap. */
  readonly hashes: readonly string[];
  /** Of a password, its hash. */
  readonly hash?: string | undefined;
  /** Whether it was valid before, so that its age is not known. */
  readonly isOfUnknownAge?: true | undefined;
  /** Why it is unknown whether it was added, until a proof shows it. */
  readonly lost?: RekeyError | undefined;
  /** Why the run fails although it was added. */
  readonly failure?: RekeyError | undefined;
  readonly findings?: readonly Finding[];
}

/** What a rotation and a verification know of the secret that is to be retired. */
export interface Retirement extends Pick<Overlap, "since" | "hashes"> {
  /** The salt of the marks. */
  readonly salt: string;
  /** The mark of the former one. */
  readonly former?: string | undefined;
  /** By which a server knows the current password, if that was not proven to be valid before. */
  readonly current?: string | undefined;
}

/** `already`: someone else has done it before. `kept`: it must stay valid, because the current one is not. */
export type Retired = "now" | "already" | "kept";

/** What a source is made of. */
export interface SourceOf {
  readonly subject: Subject;
  readonly run: Run;
  readonly context: Context;
  /** What the reads of this run have shown, the last one last. */
  readonly reads: Credentials[];
  /** Of a user: its administrator. */
  readonly admin?: AdminInput | null | undefined;
}

export function retirementOf({ memory }: State, overlap: Overlap): Retirement {
  const { since, hashes } = overlap;
  const { salt, replaced, user } = memory;
  return { since, hashes, salt, former: replaced?.mark, current: user?.hash };
}
