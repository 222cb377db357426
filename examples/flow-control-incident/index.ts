import * as pulumi from "@pulumi/pulumi";
import { FlowControlReset } from "pulumi-rekey";

const config = new pulumi.Config();
const incident = config.get("incident");

// Without an incident there is nothing to reset. The id stays in the settings until the next incident replaces it.
const reset =
  incident === undefined
    ? undefined
    : new FlowControlReset("orders", { flowControlKey: config.require("flowControlKey"), version: incident });

export const resetAt = reset?.resetAt;
export const waitingBefore = reset?.before.apply((before) => before?.waitListSize);
export const dispatchedBefore = reset?.before.apply((before) => before?.rateCount);
export const dispatchedAfter = reset?.after.apply((after) => after?.rateCount);
