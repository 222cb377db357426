import { type Credential } from "../../domain/endpoint";
import { type Subject } from "../../domain/secretKind";
import { type DatabaseRecord } from "../../records/database";
import { type Run } from "../../run/run";
import { type Access, type AccessCredential } from "../program/access";
import { knownCredential } from "../plan/compare";
import { usernameFor } from "../program/databaseEndpoint";
import { validFormers } from "../program/formers";
import { type KnownCredential } from "../memory/memory";
import { type State } from "../memory/state";
import { urlsOf } from "../program/urls";

/** The output `access`; undefined for a secret that cannot be tried, because only a read proves it. */
export function accessOf(subject: Subject, state: State, run: Run): Access | undefined {
  const { kind, id } = subject;
  if (kind.addressFrom === undefined) return undefined;
  const { memory, rotationCount } = state;
  const access: Access = {
    id,
    server: subject.server,
    of: kind.name,
    count: rotationCount,
    salt: memory.salt,
    ...placeOf(subject, state, run),
    queueUrl: memory.program.queueUrl,
    admin: state.admin?.given,
  };
  // After an unconfirmed reset, the saved credentials are the old ones, which may be invalid.
  if (memory.attempt && !memory.attempt.adds) return access;
  const current = knownCredential(kind, memory.current.marks, memory.program);
  const former = memory.formers.at(-1)?.credential;
  const formers = validFormers(memory);
  return {
    ...access,
    current: current && { ...accessCredential(current, subject), value: state[current.name] },
    former: former && accessCredential(former, subject),
    retire: formers.length > 0 ? { formers, currentHash: memory.kindFacts.hash } : undefined,
  };
}

/** Where the credentials of a secret are tried. */
function placeOf(
  subject: Subject,
  state: State,
  run: Run,
): Pick<Access, "record" | "connection" | "restUrl"> {
  const { memory, record } = state;
  const server = memory.kindFacts.server?.endpoint;
  if (server) return { connection: server };
  if (subject.kind.probe) return { restUrl: urlsOf(subject, state, run).restUrl };
  const { endpoint, port, tls } = record ?? {};
  const { connection } = memory.program;
  const { username: _ofCredential, ...place } = connection ?? {};
  return {
    record: record && ({ endpoint, port, tls } as DatabaseRecord),
    connection: connection && place,
  };
}

function accessCredential(
  { name, mark, username }: KnownCredential,
  { id }: Subject,
): AccessCredential {
  return {
    // The identities of all kinds that can be tried are such names.
    name: name as Credential["name"],
    mark,
    ...(name === "password" && username && { username: usernameFor(id, username) }),
  };
}
