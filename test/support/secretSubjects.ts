import { type SecretKind } from "../../provider/platform/secretKind";
import { queueToken } from "../../provider/platform/queueToken";
import { type Properties } from "../../provider/records/properties";
import { type Credentials } from "../../provider/records/credentials";
import { type AnyResource, type Resource } from "../../provider/resource";
import { databasePassword } from "../../provider/rotation/kinds/databasePassword";
import { searchToken, vectorToken } from "../../provider/rotation/kinds/indexToken";
import { signingKeys } from "../../provider/rotation/kinds/signingKeys";
import { passwordRotationShard } from "../../provider/rotation/passwordRotationShard";
import { rotationOf } from "../../provider/rotation/rotation";

/** A resource that rotates one secret, or a fleet with one database. */
export interface SecretSubject {
  readonly what: string;
  readonly kind: SecretKind;
  readonly resource: Resource<Properties, Properties>;
  /** Its inputs. */
  readonly inputs: (version: number, more?: Properties) => Properties;
  /** The outputs of the one secret, with its secrets. */
  readonly single: (outputs: Properties) => Properties;
  /** The credentials after so many changes. */
  readonly credentials: (generation: number) => Credentials;
}

const passwords = (generation: number) => ({
  password: `canary-password-${generation}-`,
  restToken: `canary-rest-token-${generation}-`,
});
const tokens = (generation: number) => ({
  token: `canary-token-${generation}-`,
  readOnlyToken: `canary-read-only-${generation}-`,
});
const keys = (generation: number) => ({
  currentKey: `canary-signing-key-${generation}-`,
  nextKey: `canary-signing-key-${generation + 1}-`,
});

function one(kind: SecretKind, credentials: SecretSubject["credentials"]): SecretSubject {
  const id = kind.onlyId === undefined ? { [kind.idInput]: "db-1" } : { minInterval: "0s" };
  return {
    what: `one ${kind.noun}`,
    kind,
    resource: asPlain(rotationOf(kind)),
    inputs: (version, more = {}) => ({ ...id, version, ...more }),
    single: (outputs) => outputs,
    credentials,
  };
}

const fleetOfOne: SecretSubject = {
  what: "a database of a fleet",
  kind: databasePassword,
  resource: asPlain(passwordRotationShard),
  inputs: (version, more = {}) => ({ shard: "00", fleet: "urn::all", databases: ["db-1"], version, ...more }),
  single: ({ rotations, secrets }) => ({
    ...(rotations as Properties[])[0],
    ...(JSON.parse(secrets as string) as Properties[])[0],
  }),
  credentials: passwords,
};

function asPlain(resource: unknown): Resource<Properties, Properties> {
  return resource as AnyResource as Resource<Properties, Properties>;
}

/** A resource for each kind of secret, and a fleet. */
export const secretSubjects: readonly SecretSubject[] = [
  one(databasePassword, passwords),
  fleetOfOne,
  one(vectorToken, tokens),
  one(searchToken, tokens),
  one(queueToken, tokens),
  one(signingKeys, keys),
];
