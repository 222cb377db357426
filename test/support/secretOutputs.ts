import { type ResourceType } from "../../provider/engine/resources";

const ofToken = ["access", "memory", "otherFields", "readOnlyToken", "token"];

/** The outputs of each resource that must be secret, sorted: not derived from the product, which may forget one. */
export const secretOutputs: Readonly<Record<ResourceType, readonly string[]>> = {
  PasswordRotation: [
    "access",
    "connectionUrl",
    "memory",
    "otherFields",
    "password",
    "readOnlyRestToken",
    "restToken",
    "restUrl",
  ],
  VectorTokenRotation: ofToken,
  SearchTokenRotation: ofToken,
  QueueTokenRotation: ofToken,
  SigningKeyRotation: ["currentKey", "memory", "nextKey", "otherFields"],
  AclUserRotation: ["access", "connectionUrl", "memory", "otherFields", "password", "restToken", "restUrl"],
  PasswordRotationFleet: ["access", "connectionUrls", "credentials", "memory"],
  RotationTrigger: ["memory"],
  CredentialVerification: ["memory"],
  FlowControlReset: ["appliedTrigger"],
  FlowControlLimits: [],
};
