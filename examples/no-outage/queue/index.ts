import * as pulumi from "@pulumi/pulumi";
import { CredentialVerification, QueueTokenRotation } from "pulumi-rekey";
import { Deployment } from "../deployment";

const config = new pulumi.Config();

const queue = new QueueTokenRotation("queue", {
  queueUserId: config.require("queueUserId"),
  initialRotation: false, // the first `pulumi up` hands over the current token
  version: config.get("version"),
  rotateEvery: "30d",
});

// Fails with the reason, so that no consumer gets an empty token.
const token = queue.token.apply((known) => {
  if (known !== undefined) return known;
  throw new pulumi.RunError("The token is not known: the platform does not show it.");
});

const deployment = new Deployment("consumers", { file: config.require("file"), secret: token });

// The former token is retired once all consumers use the new one. If the deployment fails, both stay valid.
const verification = new CredentialVerification("queue", {
  access: queue.access,
  retireFormerAfter: [deployment.urn],
});

export const rotatedAt = queue.rotatedAt;
export const formerRetiredAt = verification.formerRetiredAt;
