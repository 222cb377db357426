import * as pulumi from "@pulumi/pulumi";
import { FlowControlReset, getFlowControlKeyOutput, PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();

// A new version is the request for one more reset: `pulumi config set version 2`.
const rotation = new PasswordRotation("cache", {
  databaseId: config.require("databaseId"),
  version: config.get("version") ?? "1",
});

// After an incident, its id lets the waiting messages go.
const reset = new FlowControlReset("orders", {
  flowControlKey: config.require("flowControlKey"),
  version: config.get("incident") ?? "none",
});

const orders = getFlowControlKeyOutput({ flowControlKey: reset.flowControlKey }, { dependsOn: reset });

export const endpoint = rotation.endpoint;
export const rotatedAt = rotation.rotatedAt;
export const rotationCount = rotation.rotationCount;
export const password = rotation.password;

// The key right before its reset, and as it is whenever the program runs; `dispatched` counts in the current rate
// period.
export const waitingBefore = reset.before.apply((before) => before?.waitListSize);
export const runningBefore = reset.before.apply((before) => before?.parallelismCount);
export const dispatchedBefore = reset.before.apply((before) => before?.rateCount);
export const waiting = orders.waitListSize;
export const running = orders.parallelismCount;
export const dispatched = orders.rateCount;
