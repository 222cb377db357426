import { isDeepStrictEqual } from "node:util";
import { type CredentialName, credentialNames, type Credentials } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { jsonText } from "../records/properties";
import { type Memory, readMemory, type ResetReason } from "./memory";

/** The outcome of the last reset; `unknown` if it was not confirmed. */
export type Outcome = "reset" | "adopted" | "unknown";

/**
 * A secret as a rotation saves it: what a program can use, and what Rekey remembers in `memory`. Outputs that follow
 * from these are added when it is saved: `outputsOf` and, for a fleet, `writeFleet`.
 */
export interface State extends Credentials {
  readonly outcome: Outcome;
  /** Time of the last confirmed reset (ISO 8601, UTC). */
  readonly rotatedAt?: string | undefined;
  /** Time of the adoption, until the first reset (ISO 8601, UTC). */
  readonly adoptedAt?: string | undefined;
  /** Confirmed resets. */
  readonly rotationCount: number;
  readonly rotationReason?: ResetReason | undefined;
  readonly record?: Readonly<Record<string, unknown>> | undefined;
  readonly exactIntegers?: Readonly<Record<string, string>> | undefined;
  readonly otherFields?: string | undefined;
  readonly problems?: readonly string[] | undefined;
  readonly encryptedCredentials?: string | undefined;
  readonly memory: Memory;
}

/** The credentials with some names, as far as they are known. Those that are not text are damaged. */
export function picked(credentials: Credentials, names: readonly CredentialName[]): Credentials {
  const known = names.filter((name) => typeof credentials[name] === "string");
  return Object.fromEntries(known.map((name) => [name, credentials[name]]));
}

/** The credentials whose values are in a state. */
export function credentialsIn(state: Credentials | undefined): Credentials {
  return picked(state ?? {}, credentialNames);
}

/** A state without the values of some credentials. */
export function withoutValues(state: State, names: readonly CredentialName[] = credentialNames): State {
  const rest = Object.entries(state).filter(([name]) => !names.includes(name as CredentialName));
  return Object.fromEntries(rest) as unknown as State;
}

/** A state with what a response shows of the record: a field that it leaves out stays. */
export function withRecord(state: State, { record, exactIntegers, otherFields, problems }: SecretResponse): State {
  const exact = Object.entries(state.exactIntegers ?? {}).filter(([name]) => !Object.hasOwn(record, name));
  return {
    ...state,
    record: { ...state.record, ...record },
    exactIntegers: { ...Object.fromEntries(exact), ...exactIntegers },
    otherFields: otherFields ?? state.otherFields,
    problems,
  };
}

/**
 * The state of saved outputs. What follows from a state is made again when it is saved.
 *
 * @throws StateError if the saved memory is damaged
 */
export function stateIn(outputs: Readonly<Record<string, unknown>>, memory = readMemory(outputs["memory"])): State {
  const saved = { ...outputs, memory } as unknown as State;
  return { ...withoutValues(saved), ...credentialsIn(saved) };
}

/** Compares two values as a saved state has them. */
export function isSame(saved: unknown, read: unknown): boolean {
  const inState = (value: unknown): unknown => JSON.parse(jsonText({ value }));
  return isDeepStrictEqual(inState(saved), inState(read));
}
