import { InputError } from "../../platform/errors";
import { type ComponentRequest, type Constructed, type Monitor, readConnection, type Component } from "./component";
import {
  type Properties,
  reveal,
  secretNames,
  unknownNames,
  referencedUrn,
  secret,
  unknownValue,
  wrap,
} from "../../records/properties";
import {
  shownVerificationOutputs,
  unverifiedWarning,
  verificationInputs,
} from "../../verification/passwordVerification";
import {
  accessTo,
  subjectText,
  targetsFrom,
  targetsText,
  verifiableType,
  type VerifiableType,
  type VerificationTarget,
  verifiedArgument,
} from "../../verification/targets";
import { type Connection, withoutConnection } from "../../rotation/connection";
import { defaultUser } from "../../rotation/endpoint";
import { inputProblems } from "../../resource";
import { kinds } from "../../rotation/kinds/kinds";
import { type Run } from "../../run";

/**
 * Registers a verification: a component, because only a component can read the outputs of the rotation or fleet that is
 * its input, and a child that verifies and saves what it verified.
 */
async function constructVerification(
  { type, name, parent, inputs, secretOutputs, preview }: ComponentRequest,
  monitor: Monitor,
  run: Run,
): Promise<Constructed> {
  const { rotation, fleet, ...others } = withoutConnection(inputs);
  const { urn: verified, type: rotationType } = verifiedResource({ ...inputs, rotation, fleet });
  const [wrong] = inputProblems(verificationInputs, reveal(others) as Properties, unknownNames(others));
  if (wrong) throw new InputError(wrong.property, wrong.problem);
  const connection = readConnection(inputs);
  const saved = await monitor.read(verified);
  const isKnown = unknownNames(saved).size === 0;
  const targets =
    connection && isKnown ? targetsIn(rotationType, reveal(saved) as Properties, connection, run) : undefined;
  const { urn } = await monitor.register({ type, name, parent, custom: false, inputs: {}, aliases: [] });
  const child = await monitor.register({
    type: `${type}Targets`,
    name,
    parent: urn,
    custom: true,
    inputs: {
      subject: rotationType ? subjectOf(rotationType, saved) : verified,
      targets: secret(targets ? targetsText(targets) : unknownValue),
      ...(others["withinSeconds"] !== undefined && { withinSeconds: others["withinSeconds"] }),
    },
    aliases: [{ type: "pulumi-nodejs:dynamic/rekey:PasswordVerification", parent }],
  });
  const shown = shownVerificationOutputs.flatMap((name) =>
    child.outputs[name] === undefined ? [] : [[name, child.outputs[name]] as const],
  );
  const outputs = wrap(Object.fromEntries(shown), secretOutputs);
  await monitor.registerOutputs(urn, outputs);
  const isOpen = !preview && reveal(child.outputs["verified"]) === false;
  const warning = targets && isOpen ? unverifiedWarning(targets) : undefined;
  return { urn, outputs, children: [child.urn], warning };
}

/**
 * The resource to verify, and its type if it is not a fleet.
 *
 * @throws InputError unless one of the inputs is one
 */
function verifiedResource(inputs: Properties): { readonly urn: string; readonly type?: VerifiableType } {
  const input = verifiedArgument(inputs);
  const urn = referencedUrn(inputs[input]) ?? "";
  const type = urn.split("::")[2]?.split(":").at(-1);
  if (input === "rotation") return { urn, type: verifiableType(type, inputs) };
  if (type === "PasswordRotationFleet") return { urn };
  throw new InputError(input, "must be a PasswordRotationFleet, the resource itself");
}

export const verificationComponent: Component = {
  construct: constructVerification,
  incomplete: "REKEY_VERIFICATION_FAILED",
  childInputs: ["withinSeconds"],
};

/** The input for a rotation, known and secret as its id is. */
function subjectOf(type: VerifiableType, saved: Properties): unknown {
  const { idInput } = kinds[type];
  const id = reveal(saved[idInput]) as string;
  const subject = id === unknownValue ? id : subjectText(type, id);
  return secretNames(saved).includes(idInput) ? secret(subject) : subject;
}

/** The targets for the outputs of a rotation or fleet. */
function targetsIn(
  type: VerifiableType | undefined,
  outputs: Properties,
  connection: Connection,
  run: Run,
): VerificationTarget[] {
  const urls = (outputs["connectionUrls"] ?? {}) as Readonly<Record<string, string>>;
  return targetsFrom(type, outputs, (name, database, known) => {
    const ofFleet = Object.hasOwn(urls, name) ? urls[name] : undefined;
    const saved = connectionFrom(type ? (outputs["connectionUrl"] as string | undefined) : ofFleet, connection);
    return accessTo(database, { ...saved, ...connection }, known, run.options.databaseHost());
  });
}

/** The connection in a saved URL. Whether it uses TLS is not passed on to another host. */
function connectionFrom(url: string | undefined, { host }: Connection): Connection {
  if (url === undefined) return {};
  const { protocol, hostname, port, username } = new URL(url);
  return {
    host: hostname,
    port: Number(port),
    ...(host === undefined && { tls: protocol === "rediss:" }),
    // The password alone authenticates the default user, too.
    ...(!["", defaultUser].includes(username) && { username: decodeURIComponent(username) }),
  };
}
