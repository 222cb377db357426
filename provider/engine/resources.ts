import { flowControlLimits } from "../flowControl/flowControlLimits";
import { flowControlReset } from "../flowControl/flowControlReset";
import { InputError } from "../domain/errors";
import { type AnyResource } from "../resource/resource";
import { passwordRotationFleet } from "../rotation/fleet/fleet";
import { kinds, type RotationType } from "../domain/secretKind";
import { retirement } from "../retirement/retirement";
import { rotationOf } from "../rotation/rotation";
import { rotationTrigger } from "../rotation/trigger";
import { UserRotation } from "../rotation/userRotation";
import { credentialVerification } from "../verification/credentialVerification";

const rotations = Object.fromEntries(
  kinds.map((kind) => [
    kind.name,
    kind.shape === "redis" ? new UserRotation(kind) : rotationOf(kind),
  ]),
) as Readonly<Record<RotationType, AnyResource>>;

/** Every resource, by the name of its type. */
export const resources = {
  ...rotations,
  PasswordRotationFleet: passwordRotationFleet,
  RotationTrigger: rotationTrigger,
  CredentialVerification: credentialVerification,
  Retirement: retirement,
  FlowControlReset: flowControlReset,
  FlowControlLimits: flowControlLimits,
} satisfies Readonly<Record<string, AnyResource>>;

export type ResourceType = keyof typeof resources;

export function resourceOf(type: string): AnyResource {
  const all: Readonly<Record<string, AnyResource>> = resources;
  const resource = Object.hasOwn(all, type) ? all[type] : undefined;
  if (resource === undefined) {
    throw new InputError(type, "is not a resource of this version of pulumi-rekey");
  }
  return resource;
}
