// The first `pulumi up` resets the password, unless you add `initialRotation: false`.
import * as pulumi from "@pulumi/pulumi";
import { CredentialVerification, FlowControlReset, getFlowControlKeyOutput, PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();

// A new version resets the password again: `pulumi config set version 2`.
const rotation = new PasswordRotation("cache", {
  databaseId: config.require("databaseId"),
  version: config.get("version"),
});

// After each reset, shows at the database that the new password works, and that old ones that it knows do not.
const verification = new CredentialVerification("cache", { access: rotation.access });

// The id of a new incident resets the rate that is used up, so that waiting messages are dispatched.
const reset = new FlowControlReset("orders", {
  flowControlKey: config.require("flowControlKey"),
  version: config.get("incident"),
});

const orders = getFlowControlKeyOutput({ flowControlKey: reset.flowControlKey }, { dependsOn: reset });

export const endpoint = rotation.endpoint;
export const rotatedAt = rotation.rotatedAt;
export const rotationCount = rotation.rotationCount;
// A secret. The program stops, so that no script gets `null`.
export const redisUrl = rotation.connectionUrl.apply((url) => {
  if (url === undefined) throw new pulumi.RunError("The password is not known yet.");
  return url;
});
export const verifiedAt = verification.verifiedAt;

// The key before its reset, and its current state. `dispatched` counts messages of the current rate period.
export const waitingBefore = reset.before.apply((before) => before?.waitListSize);
export const dispatchedBefore = reset.before.apply((before) => before?.rateCount);
export const waiting = orders.waitListSize;
export const dispatched = orders.rateCount;
