import * as pulumi from "@pulumi/pulumi";
import { FlowControlLimits } from "pulumi-rekey";

const config = new pulumi.Config();

// A limit without a setting is not pinned: messages set it.
const limits = new FlowControlLimits("orders", {
  flowControlKey: config.require("flowControlKey"),
  parallelism: config.getNumber("parallelism"),
  rate: config.getNumber("rate"),
  period: config.get("rate") === undefined ? undefined : (config.get("period") ?? "1m"),
  paused: config.getBoolean("paused") ?? false,
});

// As they are pinned at the platform.
export const parallelism = limits.parallelism;
export const rate = limits.rate;
export const period = limits.period;
export const paused = limits.paused;
