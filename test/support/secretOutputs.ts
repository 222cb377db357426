import { kinds, type RotationType, type SecretKind } from "../../provider/domain/secretKind";
import { type ResourceType } from "../../provider/engine/resources";

/** The outputs of each resource that must be secret, sorted. */
export const secretOutputs: Readonly<Record<ResourceType, readonly string[]>> = {
  ...(Object.fromEntries(kinds.map((kind) => [kind.name, secretsOf(kind)])) as Record<RotationType, string[]>),
  PasswordRotationFleet: ["access", "connectionUrls", "credentials", "memory"],
  RotationTrigger: ["memory"],
  CredentialVerification: ["credential", "memory"],
  Retirement: ["access", "credential"],
  FlowControlReset: ["appliedTrigger"],
  FlowControlLimits: [],
};

/** The credentials of its record, what contains one of them, and what Rekey remembers. */
function secretsOf({ table, shape, connects, probe }: SecretKind): string[] {
  const urls = connects === true || shape === "redis" ? ["connectionUrl", "restUrl"] : [];
  const access = urls.length > 0 || probe ? ["access"] : [];
  return [...Object.values(table.credentials), ...urls, ...access, "memory", "otherFields"].sort();
}
