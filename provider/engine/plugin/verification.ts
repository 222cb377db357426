import { InputError } from "../../platform/errors";
import { type ComponentRequest, type Constructed, type Monitor, readConnection, type Component } from "./component";
import {
  type Properties,
  reveal,
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
  fleetOfOne,
  type RotationOutputs,
  targetsOf,
  targetsText,
  type VerificationTarget,
  verifiedArgument,
} from "../../verification/targets";
import { type Connection, withoutConnection } from "../../rotation/connection";
import { type FleetOutputs } from "../../rotation/fleet";
import { inputProblems } from "../../resource";
import { type Run } from "../../run";

const verifiedTypes = { rotation: "PasswordRotation", fleet: "PasswordRotationFleet" };

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
  const verified = verifiedUrn({ rotation, fleet });
  const [wrong] = inputProblems(verificationInputs, reveal(others) as Properties, unknownNames(others));
  if (wrong) throw new InputError(wrong.property, wrong.problem);
  const connection = readConnection(inputs);
  const saved = await monitor.read(verified);
  const isKnown = unknownNames(saved).size === 0;
  const targets = connection && isKnown ? targetsIn(reveal(saved) as Properties, connection, run) : undefined;
  const { urn } = await monitor.register({ type, name, parent, custom: false, inputs: {}, aliases: [] });
  const child = await monitor.register({
    type: `${type}Targets`,
    name,
    parent: urn,
    custom: true,
    inputs: {
      subject: rotation ? saved["databaseId"] : verified,
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

/** @throws InputError unless one of the inputs is the resource to verify */
function verifiedUrn(inputs: Pick<Properties, "rotation" | "fleet">): string {
  const input = verifiedArgument(inputs);
  const urn = referencedUrn(inputs[input]);
  const type = verifiedTypes[input];
  if (urn?.split("::")[2]?.endsWith(`:${type}`)) return urn;
  throw new InputError(input, `must be a ${type}, the resource itself`);
}

export const verificationComponent: Component = {
  construct: constructVerification,
  incomplete: "REKEY_VERIFICATION_FAILED",
  childInputs: ["withinSeconds"],
};

/** The targets for the outputs of a rotation or fleet. */
function targetsIn(outputs: Properties, connection: Connection, run: Run): VerificationTarget[] {
  const isFleet = "databases" in outputs;
  const verified = isFleet ? (outputs as unknown as FleetOutputs) : fleetOfOne(outputs as unknown as RotationOutputs);
  const urls = (outputs["connectionUrls"] ?? {}) as Readonly<Record<string, string>>;
  return targetsOf(verified, (name, database, known) => {
    const ofFleet = Object.hasOwn(urls, name) ? urls[name] : undefined;
    const saved = connectionFrom(isFleet ? ofFleet : (outputs["connectionUrl"] as string | undefined), connection);
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
    ...(username !== "" && { username: decodeURIComponent(username) }),
  };
}
